import { stat, readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Clock } from '../clock.js'
import { clauseOf } from '../errors.js'

interface Files {
  readonly certificate: string
  readonly key: string
}

interface Watch extends Files {
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly onChange: (pair: SecureContextOptions) => void
}

const LOOK_EVERY_MS = 5000

/** The pair for a TLS server; throws unless both can be read and belong together. */
export async function readCertificate({ certificate, key }: Files): Promise<SecureContextOptions> {
  const pair: SecureContextOptions = {
    cert: await read(certificate, 'tls.certificate'),
    key: await read(key, 'tls.key'),
    minVersion: 'TLSv1.2'
  }
  try {
    createSecureContext(pair)
  } catch (thrown) {
    throw new Error(
      `tls: ${certificate} and ${key} are not a certificate and its private key in PEM format: ${clauseOf(thrown)}`,
      { cause: thrown }
    )
  }
  return pair
}

async function read(file: string, name: string): Promise<Buffer> {
  return readFile(file).catch((thrown: unknown) => {
    throw new Error(`${name} cannot be read: ${clauseOf(thrown)}`, { cause: thrown })
  })
}

/**
 * Hands over every new pair that is in order, however the files were replaced: written anew, renamed, or behind links as in a
 * Kubernetes secret. Returns what ends the watch.
 */
export async function watchCertificate(watch: Watch): Promise<() => void> {
  let seen = await fingerprintOf(watch)
  let isEnded = false
  let said = ''
  let cancel = (): void => undefined
  const look = async (): Promise<void> => {
    // Looked at before it is read: what changes meanwhile is read again.
    const found = await fingerprintOf(watch)
    if (found !== seen && !isEnded) {
      const { isTaken, words } = await take(watch)
      // What cannot be used now may become usable without another sign of change, as by a right to read it.
      if (isTaken) seen = found
      if (isTaken || words !== said) watch.log(words)
      said = words
    }
    if (!isEnded) plan()
  }
  const plan = (): void => {
    cancel = watch.clock.after(LOOK_EVERY_MS, () => void look())
  }
  plan()
  return () => {
    isEnded = true
    cancel()
  }
}

async function take({ onChange, certificate, key }: Watch): Promise<{ isTaken: boolean; words: string }> {
  try {
    onChange(await readCertificate({ certificate, key }))
    return {
      isTaken: true,
      words: `the certificate in ${certificate} has changed; new connections get the new one`
    }
  } catch (thrown) {
    const words = `the changed certificate is not used, the one before stays: ${clauseOf(thrown)}`
    return { isTaken: false, words }
  }
}

async function fingerprintOf({ certificate, key }: Files): Promise<string> {
  const parts = [certificate, key].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found && [found.mtimeMs, found.ino, found.size, found.dev].join(' ')
  })
  return (await Promise.all(parts)).join(', ')
}
