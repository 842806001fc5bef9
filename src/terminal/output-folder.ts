import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from './arguments.js'

/** What a run leaves behind, even a killed one. */
export const OF_A_RUN: readonly string[] = ['results', 'logs', 'service', 'report.html', 'verdict.json']
const ADVICE = 'give --output another folder, or remove what is there'

/** The CSVs of two runs in one folder would be judged as one run. */
export async function checkOutputFolder(folder: string): Promise<void> {
  // If it cannot be read, or is not a folder, writing to it will report that.
  const names: readonly string[] = await readdir(folder).catch(() => [])
  const found = OF_A_RUN.filter((name) => names.includes(name))
  if (found.length > 0)
    throw new UsageError(`${folder} contains ${found.join(', ')} of an earlier run; ${ADVICE}`)
}

/** A report of CSVs may be created again; the verdict of a run is evidence and stays. */
export async function checkReportFolder(folder: string): Promise<void> {
  const path = join(folder, 'verdict.json')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined && !isOfReport(text))
    throw new UsageError(`${path} is the verdict of a run, or of something else; ${ADVICE}`)
}

/** It names no run, and a gate without a run has judged nothing. */
function isOfReport(text: string): boolean {
  try {
    const { verdict, run } = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>
    return run === null && ['passed', 'failed', 'inconclusive'].includes(String(verdict))
  } catch {
    return false
  }
}
