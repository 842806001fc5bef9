import { channel } from 'node:diagnostics_channel'
import { errors } from 'undici'
import { systemError } from './one-run-caller.js'
import type { Caller } from './one-run-caller.js'
import type { Answered } from './one-run-service.js'
import type { Choice } from '../data/seeded-choice.js'

export type Operation = 'account' | 'create' | 'repeat' | 'list' | 'show' | 'stop' | 'other' | 'terminate'

/** An effect comes no later than this after its request: who looks for it must be as patient. */
const LATEST_EFFECT_MS = 10_000
const SLOWEST_MS = 20_000

/** One request on its way, in the hands of a fault. */
interface Exchange {
  readonly caller: Caller
  readonly choice: Choice
  readonly patienceMs: number
  /** Lets the service do what it is asked for. */
  readonly effect: (how?: { isLate?: boolean; isTwice?: boolean }) => Answered
  readonly sleep: (ms: number) => Promise<void>
}

export type Fault = (exchange: Exchange) => Promise<void> | void

/** A reply in place of the real one: nothing has happened. */
function refusing(status: number, body: string): Fault {
  return ({ caller }) => caller.answer({ status, body })
}

/** It has happened, and this is the reply. */
function answering(status: number, body: string, location?: string): Fault {
  return ({ caller, effect }) => {
    effect()
    caller.answer({ status, body }, location)
  }
}

/** It has happened, and the connection is gone. */
function failing(codes: readonly string[]): Fault {
  return ({ caller, choice, effect }) => {
    effect()
    caller.fail(systemError(choice.of(codes), 'read'))
  }
}

/** What has no effect at all. */
const HARMLESS = {
  connect: ({ caller }) => {
    const error = systemError('ECONNREFUSED', 'connect')
    channel('undici:client:connectError').publish({ error })
    caller.fail(error)
  },
  'reset before': ({ caller }) => caller.fail(systemError('ECONNRESET', 'read')),
  '503 before': refusing(503, 'away'),
  '429 before': refusing(429, 'slow down'),
  'stalled before': async ({ caller, sleep, patienceMs }) => {
    await sleep(patienceMs)
    caller.fail(new errors.HeadersTimeoutError())
  }
} satisfies Record<string, Fault>

/** What leaves a doubt. */
const DOUBTFUL = {
  'reset after': failing(['ECONNRESET']),
  'unreachable after': failing(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']),
  '502 after': answering(502, '<html><title>Bad gateway</title></html>'),
  '302 after': answering(302, '', 'https://service.example/sign_in'),
  '303 after': answering(303, '', '/api/runs/run1'),
  'page after': answering(200, '<html>welcome</html>'),
  '204 after': answering(204, ''),
  'error after': answering(200, JSON.stringify({ error: 'so it is' })),
  'odd after': ({ caller, choice, effect }) => {
    effect()
    caller.answer({ status: 202, body: choice.of(['null', '[]', '7', '{"uuid":{}}', '""']) })
  },
  'cut after': ({ caller, effect }) => caller.cut(effect()),
  'stalled after': async ({ caller, effect, sleep, patienceMs }) => {
    effect()
    await sleep(patienceMs)
    caller.fail(new errors.HeadersTimeoutError())
  },
  slow: async ({ caller, choice, effect, sleep }) => {
    const answered = effect()
    await sleep(choice.between(1, SLOWEST_MS))
    caller.answer(answered)
  },
  'late effect': async ({ caller, choice, effect, sleep }) => {
    caller.fail(systemError('ECONNRESET', 'read'))
    await sleep(choice.between(1, LATEST_EFFECT_MS))
    effect({ isLate: true })
  }
} satisfies Record<string, Fault>

/** Something stands in for the service while it is deployed. */
const INGRESS = { ingress: refusing(404, 'default backend - 404') } satisfies Record<string, Fault>
/** Something in between sends it once more. */
const TWICE = {
  twice: ({ caller, effect }) => {
    effect({ isTwice: true })
    caller.answer(effect())
  }
} satisfies Record<string, Fault>

function without(all: Readonly<Record<string, Fault>>, names: readonly string[]): Record<string, Fault> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)))
}

/** A repeat carries no tag: of two that something in between has made, none could be recognised as the step's own. */
export const FAULTS: Readonly<Record<Operation, Readonly<Record<string, Fault>>>> = {
  account: { ...HARMLESS, ...DOUBTFUL, ...INGRESS },
  create: { ...HARMLESS, ...DOUBTFUL, ...INGRESS, ...TWICE },
  repeat: { ...HARMLESS, ...DOUBTFUL },
  list: { ...HARMLESS, ...DOUBTFUL, ...INGRESS },
  show: { ...HARMLESS, ...DOUBTFUL, ...INGRESS },
  stop: { ...HARMLESS, ...DOUBTFUL, ...INGRESS, ...TWICE },
  other: {},
  // A service may take minutes to terminate a grid: a request that gets no reply is waited for, until there is no time left.
  terminate: without({ ...HARMLESS, ...DOUBTFUL }, ['stalled before', 'stalled after'])
}
export const MOST_FAULTS: Readonly<Record<Operation, number>> = {
  account: 2,
  create: 2,
  repeat: 2,
  list: 3,
  show: 5,
  stop: 3,
  other: 0,
  terminate: 2
}
