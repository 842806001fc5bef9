import { parentPort, workerData } from 'node:worker_threads'
import type { PlanAnswer } from './ask.js'
import { answer, describeFailure, type Asked, type Question } from './questions.js'

/** What this thread was started for; another one scans results. */
const given = workerData as { question: Question; asked: Asked<Question> } | undefined
if (given !== undefined) parentPort?.postMessage(reply(given.question, given.asked))

function reply<Q extends Question>(question: Q, asked: Asked<Q>): PlanAnswer {
  try {
    return { answer: answer(question, asked) }
  } catch (thrown) {
    return { failure: describeFailure(thrown) }
  }
}
