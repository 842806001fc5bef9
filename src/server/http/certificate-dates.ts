import { X509Certificate } from 'node:crypto'

const DAY_MS = 24 * 3_600_000
/** Time enough to renew it, and too little for those who renew by themselves to be bothered. */
const SOON_MS = 14 * DAY_MS

/** From when until when every certificate of a file is valid. */
export interface Validity {
  readonly fromMs: number
  readonly untilMs: number
}

/** Undefined if that cannot be read: no reason to refuse what TLS accepts. */
export function readValidity(pem: Buffer): Validity | undefined {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  try {
    const dates = blocks?.map((block) => new X509Certificate(block))
    return (
      dates && {
        fromMs: Math.max(...dates.map(({ validFrom }) => Date.parse(validFrom))),
        untilMs: Math.min(...dates.map(({ validTo }) => Date.parse(validTo)))
      }
    )
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
