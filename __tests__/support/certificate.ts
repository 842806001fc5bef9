import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** A certificate of this machine, signed by itself: its file is also that of its authority. */
export function makeCertificate(folder: string, name: string, days = 90): CertificateFiles {
  const certificate = join(folder, `${name}.pem`)
  const key = join(folder, `${name}.key`)
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', key, '-out', certificate, '-subj', `/CN=${name}`, '-days', String(days)],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    ],
    { stdio: 'ignore' }
  )
  return { certificate, key }
}
