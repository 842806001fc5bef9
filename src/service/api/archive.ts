import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { RunRecord } from '../../contract/records.js'
import type { RunPages } from '../pages/run-pages.js'
import { readLogs } from '../runs/keep-logs.js'
import type { RunData } from '../store/store.js'
import { TAR_END, tarHeader, tarPadding } from '../tar.js'

interface Parts {
  readonly store: RunData
  readonly pages: RunPages | undefined
}

/** What people want to keep of an ended run, as `tar.gz`: its report, its page as a file if there are pages, and the tools' logs. */
export function packRun(run: RunRecord, parts: Parts): Readable {
  // The reader notices if it fails.
  return pipeline(Readable.from(tarOf(run, parts)), createGzip(), () => undefined)
}

async function* tarOf(run: RunRecord, parts: Parts): AsyncGenerator<Buffer> {
  for await (const { name, text } of filesOf(run, parts)) {
    const content = Buffer.from(text)
    const header = tarHeader(`${run.id}/${name}`, content.length, run.stoppedMs ?? run.createdMs)
    yield Buffer.concat([header, content, tarPadding(content.length)])
  }
  yield TAR_END
}

async function* filesOf(run: RunRecord, { store, pages }: Parts) {
  if (run.report) yield { name: 'report.json', text: `${JSON.stringify(run.report, null, 2)}\n` }
  if (pages) yield { name: 'report.html', text: await pages.reportPage(run) }
  for await (const { name, text } of readLogs(store, run)) yield { name: `logs/${name}`, text }
}
