import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { lostLoad, quoteLines } from '../gate/collect/remote-errors.js'

/** What a verdict.json that lies beside CSVs, as in an artifact, says of them. */
export interface EarlierVerdict {
  /** Synthetic samples look like others. */
  readonly rehearsal: boolean
  /** Why the CSVs are not the whole evidence; undefined where nothing says so. */
  readonly gap: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Whatever there is of results, the run did not come to its end. */
const CUT_SHORT: readonly unknown[] = ['cancelled', 'timed-out', 'error']

/** In the CSVs' folders and in those above. CSVs of a run that was cut short look whole. */
export async function readEarlierVerdict(csvs: readonly string[]): Promise<EarlierVerdict> {
  const folders = new Set(csvs.flatMap((path) => [dirname(path), dirname(dirname(path))]))
  const told = await Promise.all([...folders].map((folder) => readVerdict(join(folder, 'verdict.json'))))
  return {
    rehearsal: told.some(({ rehearsal }) => rehearsal),
    gap: told.find(({ gap }) => gap !== undefined)?.gap
  }
}

async function readVerdict(path: string): Promise<EarlierVerdict> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return { rehearsal: false, gap: undefined }
  try {
    const document = fieldsOf(JSON.parse(text))
    const gap = gapIn(document)
    return {
      rehearsal: document.rehearsal === true,
      gap: gap === undefined ? undefined : `The run of these CSVs ${gap} (${path}).`
    }
  } catch {
    // One that was being written when the disk was full, or when the run was killed.
    return { rehearsal: false, gap: `What is beside the CSVs is no JSON, so their run is not known: ${path}` }
  }
}

function gapIn(document: Fields): string | undefined {
  const { verdict, reason } = document
  const said = typeof reason === 'string' && reason !== '' ? `: "${quoteLines([reason])}"` : ''
  if (CUT_SHORT.includes(verdict)) return `ended as ${String(verdict)}${said}`
  if (verdict === 'inconclusive' && !isOfThresholds(document)) return `was inconclusive${said}`
  // A broken threshold is said first, and keeps quiet about what else was wrong.
  const errors = listOf(document.remote_errors).map(String)
  const lost = lostLoad(errors)
  if (lost.length > 0) return `lost part of its load: "${quoteLines(lost)}"`
  const [shortfall] = listOf(document.warnings).map(String)
  if (verdict === 'failed' && errors.length > 0 && shortfall !== undefined)
    return `did not reach its load: "${quoteLines([shortfall])}", and the service said: "${quoteLines(errors)}"`
  const missing = listOf(document.grids)
    .map(fieldsOf)
    .find(({ problem }) => typeof problem === 'string')
  if (missing !== undefined)
    return `has no whole CSV of grid ${String(missing.gridId)}: "${quoteLines([String(missing.problem)])}"`
  return undefined
}

/** Other thresholds may well be decided by the same CSVs. What is missing in them is said before any threshold. */
function isOfThresholds({ reason, thresholds }: Fields): boolean {
  return listOf(thresholds)
    .map(fieldsOf)
    .some((one) => one.verdict === 'inconclusive' && String(reason).endsWith(`: ${String(one.reason)}`))
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
