import { readFile } from 'node:fs/promises'
import { RunnerFileError, explainFailure } from './runner-files.js'

export interface Head {
  readonly sha?: unknown
  readonly repo?: { readonly full_name?: unknown } | null
}

type Event = { readonly pull_request?: { readonly number?: unknown; readonly head?: Head } | null } | null

/** The event that started the workflow run, from the file that the runner wrote. */
export async function readEvent<T = Event>(path: string): Promise<T> {
  const name = 'GITHUB_EVENT_PATH'
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    throw explainFailure({ name, path }, thrown)
  })
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new RunnerFileError(
      `${path} (${name}) is not valid JSON; check for a step that writes to it, and do not set the variable in the workflow`,
      { cause }
    )
  }
}
