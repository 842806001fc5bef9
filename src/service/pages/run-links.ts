import { stat } from 'node:fs/promises'
import { safeLink } from '../../report/escape.js'
import type { RunLinks, RunFile } from '../../report/page/served/served-pages.js'
import { hasEnded, type RunRecord } from '../../contract/records.js'
import { MARKER, readSource } from '../../contract/api/run-source.js'
import { listLogs } from '../runs/keep-logs.js'
import { SECRET_FILES } from '../runs/row-secrets.js'
import { LONGEST_FILTER, queryOf, type ServiceFacts } from '../service-facts.js'

const DATA_FILE = 'A data file of the plan'
/** A page with more would be slow, and nobody reads them. */
const MOST_FILES = 300

type Facts = Pick<ServiceFacts, 'store' | 'words' | 'access'>

/** What a run is for and the files it has, as links for whoever may read its page. */
export async function describeLinks(run: RunRecord, facts: Facts): Promise<RunLinks> {
  const { project, tags } = run.request
  const { parts, rest } = readSource(run.request.notes ?? '')
  const files = await listFiles(run, facts)
  return {
    source: parts.map(({ name, word, address }) => ({
      ...{ what: name, name: word, href: safeLink(address) ?? null, where: placeIn(address) }
    })),
    project: project === null ? null : { name: project, href: listLink('project', project) },
    tags: tags.filter((tag) => !MARKER.test(tag)).map((tag) => ({ name: tag, href: listLink('tag', tag) })),
    seenBy: facts.access.describe(run),
    notes: rest,
    files: files.slice(0, MOST_FILES),
    filesLeftOut: Math.max(0, files.length - MOST_FILES),
    filesToCome: hasEnded(run) ? null : 'The results and the logs are here once the run has ended.'
  }
}

/** The host and the repository: whoever wrote the notes may have written any address. */
function placeIn(address: string): string {
  if (!URL.canParse(address)) return ''
  const { host, pathname } = new URL(address)
  return [host, ...pathname.split('/').slice(1, 3)].join('/')
}

function listLink(key: 'project' | 'tag', value: string): string | null {
  return value === '' || value.length > LONGEST_FILTER ? null : `/${queryOf({ [key]: value })}`
}

async function listFiles(run: RunRecord, facts: Facts): Promise<RunFile[]> {
  const path = `/${facts.words.runs}/${run.id}/download`
  const uploaded = await listUploaded(run, facts, path)
  if (!hasEnded(run)) return uploaded
  const logs = (await listLogs(facts.store, run)).map((name) => ({
    ...{ name, href: `${path}/logs/${encodeURIComponent(name)}`, bytes: null },
    about: "A tool's log, without secrets"
  }))
  const verdict = { name: 'verdict.json', href: `${path}/verdict.json`, bytes: null }
  const own = [
    // Without thresholds there is no verdict.
    ...(run.thresholds ? [{ ...verdict, about: 'The verdict by the thresholds above' }] : []),
    {
      ...{ name: `${run.id}.tar.gz`, href: `${path}/archive.tar.gz`, bytes: null },
      about: 'This page as a file, the report and the logs'
    }
  ]
  return [...(await listResults(run, facts, path)), ...own, ...uploaded, ...logs]
}

/** One per grid, and all in one if there are several. */
async function listResults(run: RunRecord, { store }: Facts, path: string): Promise<RunFile[]> {
  const grids = store.gridsOf(run)
  const files = await Promise.all(
    grids.map(async ({ id, spec: { region } }) => {
      const bytes = await sizeOf(store.folder.resultFile(run.id, id))
      // Results that are not merged yet are merged when they are downloaded.
      const isThere = bytes !== null || run.unmerged === true
      const href = isThere ? `${path}/result.csv?grid_id=${id}` : null
      return { name: `${region}-${id}.csv`, about: `The samples of the grid in ${region}`, href, bytes }
    })
  )
  const isWhole = files.every(({ href }) => href !== null)
  const all = {
    name: `${run.id}.csv`,
    about: 'The samples of all grids',
    href: `${path}/result.csv`,
    bytes: null
  }
  return files.length > 1 && isWhole ? [all, ...files] : files
}

async function listUploaded({ id, files }: RunRecord, { store }: Facts, path: string): Promise<RunFile[]> {
  return Promise.all(
    files.map(async ({ uuid, name }, index) => {
      const bytes = await sizeOf(store.folder.uploadedFile(id, name))
      // The same page is for everyone who watches it.
      const isSecret = SECRET_FILES.includes(name)
      const about = isSecret
        ? 'It may have secrets: whoever uploaded it gets it by the API, others its names'
        : DATA_FILE
      const href = bytes === null || isSecret ? null : `${path}/files/${uuid}`
      return { name, about: index === 0 ? 'The plan' : about, href, bytes }
    })
  )
}

/** Null if it is not there. */
async function sizeOf(file: string): Promise<number | null> {
  return (await stat(file).catch(() => undefined))?.size ?? null
}
