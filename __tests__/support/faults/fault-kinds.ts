import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Exchange, Fault, Moment } from './fault-proxy.js'

const HTML = { 'content-type': 'text/html' }
const DELAY_MS = 1_500

function page(status: number, headers: Record<string, string> = {}): Answer {
  const body = Buffer.from(`<html><head><title>Status ${status}</title></head><body>Sorry.</body></html>`)
  return { status, headers: { ...HTML, ...headers }, body }
}

const JSON_ERROR: Answer = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"error":"Sorry, something went wrong."}')
}

/** In the middle of a row, so that what came cannot be taken for a shorter whole. */
function half({ body }: Answer): number {
  const middle = Math.floor(body.length / 2)
  return body[middle - 1] === 0x0a ? middle + 3 : middle
}

async function hold(): Promise<void> {
  // The other side gives up, or is killed; the connection stays open until then.
}

/** What can happen to a request and its answer; "after" means that the service has done what it was asked. */
export const FAULTS = {
  'dropped before': (x) => x.drop(),
  'dropped after': async (x) => {
    await x.commit()
    x.drop()
  },
  'reset before': (x) => x.drop('reset'),
  'reset after': async (x) => {
    await x.commit()
    x.drop('reset')
  },
  delayed: async (x) => {
    await sleep(DELAY_MS)
    x.answer(await x.commit())
  },
  truncated: async (x) => {
    const answer = await x.commit()
    x.begin(answer, half(answer), true)
    await sleep(50)
    x.drop()
  },
  'truncated without a length': async (x) => {
    const answer = await x.commit()
    x.begin(answer, half(answer), false)
    await sleep(50)
    x.drop()
  },
  '429 with seconds': (x) => x.answer(page(429, { 'retry-after': '1' })),
  '429 with a date': (x) =>
    x.answer(page(429, { 'retry-after': new Date(Date.now() + 1_500).toUTCString() })),
  '502 before': (x) => x.answer(page(502)),
  '502 after': async (x) => {
    await x.commit()
    x.answer(page(502))
  },
  '503 before': (x) => x.answer(page(503)),
  'page before': (x) => x.answer(page(200)),
  'page after': async (x) => {
    await x.commit()
    x.answer(page(200))
  },
  'JSON error before': (x) => x.answer(JSON_ERROR),
  'stalled before': hold,
  'stalled after': async (x) => {
    await x.commit()
    await hold()
  },
  'stalled halfway': async (x) => {
    const answer = await x.commit()
    x.begin(answer, half(answer), true)
    await hold()
  }
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof FAULTS

/** True when the service has not done what it was asked once the fault has struck. */
export function comesBefore(fault: FaultName): boolean {
  return fault.endsWith('before') || fault.startsWith('429')
}

export const MOMENTS = {
  'first call': ({ index }) => index === 0,
  'later call': ({ index }) => index === 1,
  'every call for 3 s': ({ sinceFirstMs }) => sinceFirstMs < 3_000,
  'every call for 12 s': ({ sinceFirstMs }) => sinceFirstMs < 12_000,
  'every call for 125 s': ({ sinceFirstMs }) => sinceFirstMs < 125_000,
  'every call': () => true
} as const satisfies Record<string, Moment>

export type MomentName = keyof typeof MOMENTS

/** Makes a first call fail, so that there is a later one. */
export function nudge(status: 429 | 503): (exchange: Exchange) => void {
  return (exchange) => exchange.answer(page(status, { 'retry-after': '0' }))
}
