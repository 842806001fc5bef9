import { labelAddress } from '../numbers.js'

/** A part of the time axis, in seconds from the start. */
export type Span = readonly [from: number, to: number]

/** What the page's address says after `#`: which label is open, and which part of the run the charts show. */
export interface Address {
  readonly label?: string | undefined
  readonly span?: Span | undefined
}

const SPAN = /^(\d{1,9}(?:\.\d{1,3})?)-(\d{1,9}(?:\.\d{1,3})?)$/

/** What cannot be understood is left out. */
export function readAddress(hash: string): Address {
  const parts = new Map(
    hash
      .replace(/^#/, '')
      .split('&')
      .map((part): [string, string] => {
        const at = part.indexOf('=')
        return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
      })
  )
  const label = parts.get('label')
  return { label: label === undefined ? undefined : decode(label), span: readSpan(parts.get('t')) }
}

/** Empty for the page as it opens by itself. */
export function writeAddress({ label, span }: Address): string {
  const parts = [
    ...(label === undefined ? [] : [labelAddress(label)]),
    ...(span === undefined ? [] : [`t=${span.map((seconds) => Number(seconds.toFixed(2))).join('-')}`])
  ]
  return parts.length === 0 ? '' : `#${parts.join('&')}`
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function readSpan(text = ''): Span | undefined {
  const [, from, to] = SPAN.exec(text) ?? []
  if (from === undefined || to === undefined || Number(from) >= Number(to)) return undefined
  return [Number(from), Number(to)]
}
