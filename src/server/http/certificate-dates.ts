import { X509Certificate } from 'node:crypto'

const DAY_MS = 24 * 3_600_000
/** Time enough to renew it, and too little for those who renew by themselves to be bothered. */
const SOON_MS = 14 * DAY_MS

/** From when until when the service's own certificate is valid, which is the first of its file. Others may have a successor. */
export interface Validity {
  readonly fromMs: number
  readonly untilMs: number
}

/** Undefined if that cannot be read: no reason to refuse what TLS accepts. */
export function readValidity(pem: Buffer): Validity | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(pem)
    return { fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) }
  } catch {
    return undefined
  }
}

/** What an operator has to know of it now; undefined if there is nothing. The same words as long as nothing changes. */
export function warnOfDates({ fromMs, untilMs }: Validity, file: string, nowMs: number): string | undefined {
  const until = dayOf(untilMs)
  if (nowMs >= untilMs)
    return `the certificate in ${file} expired on ${until}: callers refuse the connection; put a new one there, which is then used without a restart`
  if (nowMs < fromMs)
    return `the certificate in ${file} is not valid before ${dayOf(fromMs)}: callers refuse the connection; check the clock of this machine, or put another one there`
  if (untilMs - nowMs <= SOON_MS)
    return `the certificate in ${file} expires on ${until}: put a new one there in time, which is then used without a restart`
  return undefined
}

function dayOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
