import { ByteScanner } from '../../analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../analysis/results/figures/merge.js'
import { hasEnded, type NodeRecord, type RunRecord } from '../../contract/records.js'
import { openRegular } from '../regular-file.js'
import { RowCutter } from '../samples/row-cutter.js'
import { RowRewriter } from '../samples/sample-rows.js'
import type { RunData } from '../store/store.js'

/** More than the header and the first rows need. */
const HEAD_BYTES = 64 * 1024

/** For runs in progress, whose records are the same objects for everyone. */
const known = new WeakMap<RunRecord, number>()

/** When the first sample of a run started, which is when its load began; undefined until there is one, or if it is unknown. */
export async function findFirstSample(run: RunRecord, store: RunData): Promise<number | undefined> {
  const nodes = run.nodes ?? []
  if (hasEnded(run)) return earliest(nodes.map(({ firstSampleMs }) => firstSampleMs))
  const found =
    known.get(run) ?? earliest(await Promise.all(nodes.map((node) => readFirst(run, node, store))))
  if (found !== undefined) known.set(run, found)
  return found
}

/** From the rows that a node has written so far; there are none before its tool has started. */
async function readFirst(run: RunRecord, node: NodeRecord, store: RunData): Promise<number | undefined> {
  const { grid: gridId, region, number, clockOffsetMs: offsetMs } = node
  const { samplesFile } = store.folder.nodeFiles({ runId: run.id, gridId, index: number - 1 })
  const rows = new RowCutter().push(await readHead(samplesFile))
  if (rows.length === 0) return undefined
  const scanner = new ByteScanner({ grid: gridId, region })
  scanner.push(new RowRewriter({ offsetMs }).push(rows))
  return mergeScans([scanner.end()]).startMs
}

async function readHead(file: string): Promise<Buffer> {
  const handle = await openRegular(file).catch(() => undefined)
  if (handle === undefined) return Buffer.alloc(0)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined)
  return given.length === 0 ? undefined : Math.min(...given)
}
