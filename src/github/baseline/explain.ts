import { asSentence, messageOf } from '../../gate/errors.js'
import { CallError } from './calls.js'

const PERMISSIONS =
  'Add "permissions: { actions: read, contents: read }" to the job, beside the permissions that it has.'

/** Why the recorded runs could not be read, in GitHub's words, and what to do about it. */
export function explain(thrown: unknown): string {
  if (!(thrown instanceof CallError)) return asSentence(plain(messageOf(thrown)))
  const { action, failure } = thrown
  const { kind, status, waitMs } = failure
  const words = `${status === undefined ? '' : `${status}: `}${plain(failure.words)}`
  if (kind === 'rate-limit') {
    const wait = waitMs === undefined ? '' : `; it asks to wait ${Math.ceil(waitMs / 1000)} s`
    return `GitHub's rate limit for this token is used up, so the gate could not ${action} (${words}${wait}). Run the job again later, or give it its own github-token.`
  }
  const said = `The gate could not ${action}: ${asSentence(words)}`
  if (kind === 'token') return `${said} The github-token is not valid.`
  if (kind === 'refused') return `${said} ${PERMISSIONS}`
  if (kind === 'network') return `${said} GitHub could not be reached; run the job again.`
  if (kind === 'server' || kind === 'odd-reply')
    return `${said} GitHub itself failed; see githubstatus.com, and run the job again.`
  return said
}

/** What others wrote, on one line and without control characters. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').slice(0, 300)
}
