import { X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { ConfigProblem, type ServiceConfig } from '../config/config.js'
import type { Clock } from '../../contract/clock.js'
import { formatMinute } from '../../contract/text.js'
import { clauseOf, whyUnread } from '../errors.js'
import { readGiven } from '../regular-file.js'

type Files = NonNullable<ServiceConfig['tls']>

export interface Pair extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
}

/** The pair for a TLS server; throws unless both can be read and belong together. */
export async function readCertificate({ certificate, key }: Files): Promise<Pair> {
  const pair: Pair = {
    cert: await read(certificate, 'tls.certificate'),
    key: await read(key, 'tls.key'),
    minVersion: 'TLSv1.2'
  }
  try {
    createSecureContext(pair)
  } catch (thrown) {
    throw new ConfigProblem(
      `tls: ${certificate} and ${key} are not a certificate and its private key in PEM format: ${clauseOf(thrown)}`,
      { cause: thrown }
    )
  }
  return pair
}

async function read(file: string, name: string): Promise<Buffer> {
  try {
    return await readGiven(file)
  } catch (thrown) {
    throw new ConfigProblem(`${name} cannot be read: ${whyUnread(thrown)}`, { cause: thrown })
  }
}

const LOOK_EVERY_MS = 5000

/** Uses every new pair that is in order, and says when the one in use has expired, or will soon; each thing once. */
export function followCertificate(
  server: Server,
  { files, pair, clock, log }: { files: Files; pair: Pair; clock: Clock; log: (line: string) => void }
): void {
  let used = pair
  let said: string | undefined
  let failure: string | undefined
  let cancel = (): void => undefined
  const say = (words: string | undefined): void => {
    if (words !== undefined && words !== said) log(words)
    said = words
  }
  const look = async (): Promise<void> => {
    try {
      const found = await readCertificate(files)
      failure = undefined
      if (!found.cert.equals(used.cert) || !found.key.equals(used.key)) {
        used = found
        server.setSecureContext(found)
        say(`the certificate in ${files.certificate} has changed; new connections get the new one`)
      }
      say(warnOfDates(used.cert, files.certificate, clock.now()))
    } catch (thrown) {
      const words = `the changed certificate is not used, the one before stays: ${clauseOf(thrown)}`
      // The files are replaced one after the other: only what is still wrong at the next check counts.
      if (words === failure) say(words)
      failure = words
    }
    if (server.listening) plan()
  }
  const plan = (): void => {
    cancel = clock.after(LOOK_EVERY_MS, () => void look())
  }
  say(warnOfDates(pair.cert, files.certificate, clock.now()))
  plan()
  server.once('close', () => cancel())
}

/** Enough time to renew it; certificates that renew themselves do so earlier. */
const SOON_MS = 14 * 24 * 3_600_000

/** What an operator must know about the service's own certificate, which is the first one in its file. */
function warnOfDates(pem: Buffer, file: string, nowMs: number): string | undefined {
  const { validFrom, validTo } = new X509Certificate(pem)
  const [fromMs, untilMs] = [Date.parse(validFrom), Date.parse(validTo)]
  const until = formatMinute(untilMs)
  if (nowMs >= untilMs)
    return `the certificate in ${file} expired on ${until}: callers refuse the connection; put a new one there, which is then used without a restart`
  if (nowMs < fromMs)
    return `the certificate in ${file} is not valid before ${formatMinute(fromMs)}: callers refuse the connection; check the clock of this machine, or put another one there`
  if (untilMs - nowMs <= SOON_MS)
    return `the certificate in ${file} expires on ${until}: put a new one there in time, which is then used without a restart`
  return undefined
}
