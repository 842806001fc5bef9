import * as core from '@actions/core'
import { mkdtempSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GridInputName, InputName, OutputName } from '../../contract/inputs.js'
import { decodeState, encodeState, type StepState } from '../saved-state.js'
import type { Artifact, ArtifactRequest, Occasion } from '../ports.js'
import { messageOf } from '../../contract/text.js'
import { defuse, speak } from './log.js'
import { assertSet, explainFailure } from './runner-files.js'

const STATE = 'step'

export function readInput(name: InputName | GridInputName): string {
  return core.getInput(name)
}

export function setOutput(name: OutputName | 'grids', value: string): void {
  writeTo('GITHUB_OUTPUT', () => core.setOutput(name, value))
}

export function mask(secret: string): void {
  if (secret !== '') speak(() => core.setSecret(secret))
}

/** Later saves of the same name win, so post finds the latest state. */
export function saveState(state: StepState): void {
  writeTo('GITHUB_STATE', () => core.saveState(STATE, encodeState(state)))
}

export function loadState(): StepState | undefined {
  return decodeState(core.getState(STATE))
}

export async function writeSummary(markdown: string): Promise<void> {
  const place = { name: 'GITHUB_STEP_SUMMARY', path: process.env.GITHUB_STEP_SUMMARY }
  assertSet(place)
  try {
    await core.summary.addRaw(markdown).write()
  } catch (thrown) {
    // What is still in the toolkit's buffer would be written twice.
    core.summary.emptyBuffer()
    // The toolkit has the same words for a file that is not there and for one that may not be written.
    const cause = await stat(place.path ?? '').then(
      () => thrown,
      (missing: unknown) => missing
    )
    throw explainFailure(place, cause)
  }
}

export function failStep(message: string): void {
  speak(() => core.setFailed(defuse(message)))
}

/** What this workflow run is for. */
export function readOccasion(env: NodeJS.ProcessEnv): Occasion {
  const { GITHUB_REPOSITORY: repository = '', GITHUB_REF_NAME: ref = '', GITHUB_SHA: commit = '' } = env
  const { GITHUB_SERVER_URL: server, GITHUB_RUN_ID: run } = env
  const isKnown = server !== undefined && run !== undefined && repository !== ''
  return { repository, ref, commit, url: isKnown ? `${server}/${repository}/actions/runs/${run}` : undefined }
}

/** Where the repository is checked out; files are looked for in it. */
export async function findWorkspace(env: NodeJS.ProcessEnv): Promise<string> {
  const path = env.GITHUB_WORKSPACE ?? process.cwd()
  const advice = 'run actions/checkout before this step, and do not set the variable in the workflow'
  if (path === '') throw new Error(`GITHUB_WORKSPACE is empty, so no files can be found; ${advice}`)
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => undefined
  )
  if (isFolder) return path
  const words = isFolder === undefined ? 'does not exist' : 'is not a folder'
  throw new Error(`the workspace ${path} (GITHUB_WORKSPACE) ${words}; ${advice}`)
}

/** This step's own folder: the action may be used several times in a job. */
export function makeScratchDir(env: NodeJS.ProcessEnv): string {
  // An empty variable counts as unset: it must not become the current working directory.
  const isNamed = env.RUNNER_TEMP !== undefined && env.RUNNER_TEMP !== ''
  const path = isNamed ? String(env.RUNNER_TEMP) : tmpdir()
  try {
    return mkdtempSync(join(path, 'loadgate-'))
  } catch (thrown) {
    const name = isNamed ? 'RUNNER_TEMP' : 'TMPDIR'
    const { message } = explainFailure({ name, path }, thrown)
    throw new Error(`Could not create a folder for the results; nothing was started: ${message}`, {
      cause: thrown
    })
  }
}

function writeTo(name: string, write: () => void): void {
  const place = { name, path: process.env[name] }
  assertSet(place)
  try {
    speak(write)
  } catch (thrown) {
    throw explainFailure(place, thrown)
  }
}

/** The name of an artifact is used already. */
const IS_TAKEN = /conflict|already exists/i

/** Uploads with the toolkit's client, which is heavy and only loaded here. */
export function createUploader(occasion: Occasion): (request: ArtifactRequest) => Promise<Artifact> {
  return async ({ name, folder, files, retentionDays, isReplacing = false, beforeReplacing }) => {
    const { DefaultArtifactClient } = await import('@actions/artifact')
    const client = new DefaultArtifactClient()
    const upload = (): ReturnType<typeof client.uploadArtifact> =>
      client.uploadArtifact(name, [...files], folder, retentionDays === undefined ? {} : { retentionDays })
    const { id } = await upload().catch(async (thrown: unknown) => {
      if (!isReplacing || !IS_TAKEN.test(messageOf(thrown))) throw thrown
      await beforeReplacing?.()
      await client.deleteArtifact(name)
      return upload()
    })
    if (id === undefined) throw new Error('the artifact service returned no id')
    return { id: String(id), url: occasion.url === undefined ? undefined : `${occasion.url}/artifacts/${id}` }
  }
}
