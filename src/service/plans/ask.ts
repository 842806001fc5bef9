import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { formatDuration, messageOf } from '../../contract/text.js'
import { RequestError } from '../errors.js'
import { answer, describeFailure, type Answer, type Asked, type Question } from './questions.js'

/** Next to this module when compiled, and next to its folder when bundled. */
const WORKER_PLACES = ['./plan-worker.js', '../worker/index.js']

/** How plans are read. Without a thread, as when the sources run, they are read here. */
export const reading: { url: URL | undefined; execArgv?: string[]; limitMs: number; heapMb: number } = {
  url: WORKER_PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url)),
  // A plan of 4 MB takes less than one second.
  limitMs: 20_000,
  // One of 64 MB needs a good part of it.
  heapMb: 1024
}

/** Threads at a time; the others wait. */
const MOST_THREADS = 4

/** An uploaded plan that cannot be read for a reason that is not in its text; the message continues "because …". */
class PlanReadError extends Error {
  override name = 'PlanReadError'
}

/** The error for somebody who sent such a plan. */
export function refusePlan(name: string, thrown: unknown): unknown {
  if (!(thrown instanceof PlanReadError)) return thrown
  const words = `${name} cannot be used: ${thrown.message}; remove what it does not need`
  return new RequestError(422, words, { cause: thrown })
}

export type PlanAnswer = { readonly answer: unknown } | { readonly failure: string }

let atWork = 0
const waiting: (() => void)[] = []

/** Asks something about uploaded files. They are anyone's, so a thread with a limit reads them: nobody else waits for it. */
export async function askAboutPlan<Q extends Question>(question: Q, asked: Asked<Q>): Promise<Answer<Q>> {
  const { url } = reading
  if (url === undefined) {
    try {
      return answer(question, asked)
    } catch (thrown) {
      throw new PlanReadError(describeFailure(thrown), { cause: thrown })
    }
  }
  if (atWork >= MOST_THREADS) await new Promise<void>((resolve) => waiting.push(resolve))
  atWork++
  try {
    return (await askWorker(url, { question, asked })) as Answer<Q>
  } finally {
    atWork--
    waiting.shift()?.()
  }
}

async function askWorker(url: URL, workerData: unknown): Promise<unknown> {
  const { execArgv, limitMs, heapMb } = reading
  const worker = new Worker(url, {
    workerData,
    // The thread reads files, and needs nothing else of this process.
    env: {},
    ...(execArgv && { execArgv }),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 }
  })
  let timer: NodeJS.Timeout | undefined
  try {
    const said = await new Promise<PlanAnswer>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new PlanReadError(`reading it took longer than ${formatDuration(limitMs)}`)),
        limitMs
      )
      worker.once('message', resolve)
      worker.once('error', (thrown) => reject(explain(thrown)))
      worker.once('exit', () => reject(new PlanReadError('the thread that was reading it ended')))
    })
    if ('failure' in said) throw new PlanReadError(said.failure)
    return said.answer
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

function explain(thrown: unknown): PlanReadError {
  const isMemory = (thrown as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
  const why = isMemory ? `reading it takes more than ${reading.heapMb} MB of memory` : messageOf(thrown)
  return new PlanReadError(why, { cause: thrown })
}
