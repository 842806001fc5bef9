import { stat, readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { ConfigProblem } from '../../service-config/config-error.js'
import type { Clock } from '../clock.js'
import { clauseOf } from '../errors.js'
import { readValidity, warnOfDates } from './certificate-dates.js'

interface Files {
  readonly certificate: string
  readonly key: string
}

/** A certificate and its private key. */
export interface Pair extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
}

interface Watch extends Files {
  /** In use now. */
  readonly pair: Pair
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly onChange: (pair: Pair) => void
}

const LOOK_EVERY_MS = 5000

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
  return readRegular(file).catch((thrown: unknown) => {
    throw new ConfigProblem(`${name} cannot be read: ${clauseOf(thrown)}`, { cause: thrown })
  })
}

/** Opening anything else may never come back, and then the process could not even end. */
async function readRegular(file: string): Promise<Buffer> {
  if (!(await stat(file)).isFile()) throw new Error(`${file} is not a regular file`)
  return readFile(file)
}

/**
 * Hands over every new pair that is in order, however the files were replaced: written anew, renamed, or behind links as in a
 * Kubernetes secret; and says when the one in use has expired, or will soon. Returns what ends the watch.
 */
export async function watchCertificate(watch: Watch): Promise<() => void> {
  const { clock, log } = watch
  let seen = await fingerprintOf(watch)
  let isEnded = false
  let said = ''
  let cancel = (): void => undefined
  const checkDates = followDates(watch)
  const look = async (): Promise<void> => {
    // Looked at before it is read: what changes meanwhile is read again.
    const found = await fingerprintOf(watch)
    if (found !== seen && !isEnded) {
      const taken = await take(watch)
      // What cannot be used now may become usable without another sign of change, as by a right to read it.
      if (taken.pair) seen = found
      if (taken.pair || taken.words !== said) log(taken.words)
      said = taken.words
      checkDates(taken.pair)
    } else checkDates()
    if (!isEnded) plan()
  }
  const plan = (): void => {
    cancel = clock.after(LOOK_EVERY_MS, () => void look())
  }
  checkDates()
  plan()
  return () => {
    isEnded = true
    cancel()
  }
}

/** Says once what there is to say of the dates of the pair in use, which is the last one given. */
function followDates({ pair, certificate, clock, log }: Watch): (changed?: Pair) => void {
  let validity = readValidity(pair.cert)
  let said: string | undefined
  return (changed) => {
    if (changed) {
      validity = readValidity(changed.cert)
      said = undefined
    }
    const words = validity && warnOfDates(validity, certificate, clock.now())
    if (words !== undefined && words !== said) log(words)
    said = words
  }
}

async function take({ onChange, certificate, key }: Watch): Promise<{ pair?: Pair; words: string }> {
  try {
    const pair = await readCertificate({ certificate, key })
    onChange(pair)
    return { pair, words: `the certificate in ${certificate} has changed; new connections get the new one` }
  } catch (thrown) {
    return { words: `the changed certificate is not used, the one before stays: ${clauseOf(thrown)}` }
  }
}

async function fingerprintOf({ certificate, key }: Files): Promise<string> {
  const parts = [certificate, key].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found && [found.mtimeMs, found.ino, found.size, found.dev].join(' ')
  })
  return (await Promise.all(parts)).join(', ')
}
