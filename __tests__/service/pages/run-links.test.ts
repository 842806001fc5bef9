import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createTeams, type Member, type Team } from '../accounts/team.js'
import type { Service } from '../../../src/service/server.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  get,
  type Reply,
  runForm,
  send,
  specFields,
  waitForStatus
} from '../support.js'
import { HTML, listen, logIn, nextWhere, readDocument, submit, visit, WITH_PAGES } from './page-support.js'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const PLACE = 'https://github.com/acme/shop'
const NOTES = [
  `Commit: ${PLACE}/commit/${SHA}`,
  `Pull request: ${PLACE}/pull/12`,
  'Workflow run: https://github.com/acme/shop/actions/runs/99',
  'of the <b>night</b>'
].join('\n')
const HOSTILE = `"><img src=x onerror=alert(1)>'</script>`
const REAL_TIME = { duration: '60', override_parameters: '-Jrehearsal.realtime=true' }

const teams = createTeams()
let team: Team
const cookies = new Map<Member, string>()

beforeAll(async () => {
  team = await teams.start()
  for (const member of ['admin', 'member', 'viewer', 'other'] as const)
    cookies.set(member, await logIn(team.as(member)))
})
afterAll(() => teams.closeAll())

const browse = (path: string, member: Member = 'member', headers: Record<string, string> = {}) =>
  get(team.service, path, { token: null, headers: { ...HTML, cookie: cookies.get(member)!, ...headers } })

async function finish(
  fields: Record<string, string> = {},
  grids: readonly FormPart[] = specFields()
): Promise<string> {
  const run = await finishRun(team.as('member'), runForm({ duration: '2', ...fields }, grids))
  return run.json.uuid
}

const put = (id: string, thresholds: string, more: object = {}): Promise<Reply> =>
  send(team.as('member'), 'PUT', `/runs/${id}/thresholds`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ thresholds, ...more })
  })

/** The part of the page that is made of the run's details. */
const sectionOf = ({ text }: Reply): string => /<section id="links".*?<\/section>/s.exec(text)?.[0] ?? ''
const linksOf = (page: Reply): string[] =>
  [...sectionOf(page).matchAll(/<a href="([^"]*)" download/g)].map(([, href]) => href!)

describe('the source of a run', () => {
  test('is the commit, the pull request and the workflow run of its notes, as links; the rest is text', async () => {
    const section = sectionOf(await browse(`/runs/${await finish({ notes: NOTES, project: 'acme/shop' })}`))
    expect(section).toContain(`<a href="${PLACE}/commit/${SHA}" rel="noreferrer">0123456</a>`)
    expect(section).toContain(`<a href="${PLACE}/pull/12" rel="noreferrer">#12</a>`)
    expect(section).toContain('<span class="hint">github.com/acme/shop</span>')
    expect(section).toContain('actions/runs/99" rel="noreferrer">99</a>')
    expect(section).toContain('<a href="/?project=acme%2Fshop">acme/shop</a>')
    expect(section).toContain('of the &#60;b&#62;night&#60;/b&#62;')
    expect(section.match(/<dt>Notes<\/dt>/g)).toHaveLength(1)
  })

  test.each([
    ['plain http', `Commit: http://github.com/acme/shop/commit/${SHA}`],
    ['a name and a password', `Commit: https://a:b@github.com/acme/shop/commit/${SHA}`],
    ['a script', `Pull request: javascript:alert(1)//pull/1`],
    ['no commit', 'Commit: https://evil.example/commit/zzz']
  ])('is not linked with %s', async (_, notes) => {
    const section = sectionOf(await browse(`/runs/${await finish({ notes })}`))
    expect(section).toContain('<dt>')
    expect(section).not.toMatch(/<a href="[^/]/)
  })

  test('is nothing else than text, whatever it contains', async () => {
    const id = await finish({
      ...{ name: HOSTILE, notes: HOSTILE, project: HOSTILE, tag_list: `${HOSTILE},nightly` }
    })
    for (const path of [`/runs/${id}`, `/runs/${id}/compare?with=${id}`]) {
      const page = await browse(path)
      expect(page.status).toBe(200)
      expect(page.text).not.toContain('<img')
    }
    const section = sectionOf(await browse(`/runs/${id}`))
    expect(section).toContain('<a href="/?tag=nightly">nightly</a>')
    const [, link] = /<dt>Project<\/dt><dd><a href="([^"]*)"/.exec(section) ?? []
    expect((await browse(link!)).text).toContain(id)
  })

  test('has no secret of the plan, and not the tag by which a gate finds its run', async () => {
    const marker = 'loadgate-0b7e3c1a-9f1d-4c55-8a0e-1d2c3b4a5f60'
    const id = await finish({
      ...{ name: 'n hunter2-secret', project: 'p-hunter2-secret', notes: 'logs in with hunter2-secret' },
      tag_list: `t-hunter2-secret,${marker}`,
      override_parameters: '-Jshop.password=hunter2-secret -Jdb.token=0b7e3c1a'
    })
    const page = await browse(`/runs/${id}`)
    expect(sectionOf(page)).toContain('logs in with ***')
    expect(sectionOf(page)).toContain('>p-***</a>')
    expect(sectionOf(page)).not.toContain('loadgate-0b7e3c1a')
    const run = await get(team.as('viewer'), `/runs/${id}`)
    expect(run.json).toMatchObject({ name: 'n ***', tag_list: ['t-***', marker] })
    const others = await Promise.all(['/', `/runs/${id}/compare?with=${id}`].map((path) => browse(path)))
    for (const { text } of [page, run, ...others]) expect(text).not.toContain('hunter2')
  })
})

describe('the files of a run', () => {
  let id: string
  beforeAll(async () => {
    id = await finish({ override_parameters: '-Jshop.password=hunter2-secret' }, [
      ...specFields(),
      ...specFields({ region: 'eu-west-1' })
    ])
    await put(id, 'p95 < 10s')
    const logs = join(team.service.dataDir, 'runs', id, 'logs')
    mkdirSync(logs, { recursive: true })
    writeFileSync(
      join(logs, 'node 1.log'),
      'started\nshop.password=hunter2-secret\nAuthorization: Bearer abcdefgh\n'
    )
    execFileSync('mkfifo', [join(logs, 'pipe.log')])
    execFileSync('ln', ['-s', '/etc/passwd', join(logs, 'link.log')])
  })

  test('are downloaded by every role, as attachments that nobody sniffs or keeps', async () => {
    const page = await browse(`/runs/${id}`)
    const links = linksOf(page)
    expect(links.map((link) => link.replace(/^.*\/download\//, '').replace(/[0-9a-f]{24}/g, 'ID'))).toEqual([
      ...['result.csv', 'result.csv?grid_id=ID', 'result.csv?grid_id=ID', 'verdict.json', 'archive.tar.gz'],
      ...['files/ID', 'logs/node%201.log']
    ])
    for (const link of links)
      for (const member of ['admin', 'member', 'viewer', 'other'] as const) {
        const reply = await browse(link, member)
        expect({ link, status: reply.status, ...reply.headers }).toMatchObject({
          status: 200,
          'content-disposition': expect.stringMatching(/^attachment; filename="[\w.-]+"$/),
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store'
        })
        expect(reply.text).not.toContain('hunter2')
      }
    expect(sectionOf(page)).toMatch(/The plan<\/td><td class="number">\d+ B/)
  })

  test('are the same as those of the API', async () => {
    const links = linksOf(await browse(`/runs/${id}`)).filter((link) => /result|files|verdict/.test(link))
    for (const link of links) {
      const reply = await browse(link)
      const same = await get(team.as('viewer'), link.replace('/download', ''))
      expect([same.status, same.text]).toEqual([200, reply.text])
    }
    expect((await browse(`/runs/${id}/download/result.csv`)).text.match(/timeStamp/g)).toHaveLength(1)
  })

  test('are for those who are logged in, and not for pages of other sites', async () => {
    for (const link of linksOf(await browse(`/runs/${id}`))) {
      const stranger = await get(team.service, link, { token: null, headers: HTML })
      expect([stranger.status, stranger.headers['content-disposition']]).toEqual([401, undefined])
      const foreign = await browse(link, 'member', { origin: 'https://evil.example' })
      expect(foreign.status).toBe(403)
      const prefixed = await browse(`/api${link}`)
      expect(prefixed.status).toBe(401)
    }
  })

  test.each(['environment', 'user.properties'])('the values of %s are for the creator', async (name) => {
    const form = runForm({ duration: '2' })
    const part = { name: 'run_files[]', fileName: name, content: 'API_TOKEN=hunter2-secret\n' }
    const run = (await finishRun(team.as('member'), [...form, part])).json
    const page = await browse(`/runs/${run.uuid}`)
    expect(sectionOf(page)).toMatch(
      new RegExp(`<th scope="row">${name}</th><td class="words">It may have secrets.*?25 B`)
    )
    const href = new URL(run._embedded.files.find((file) => file.name === name)!.href).pathname
    const read = async (member: Member): Promise<string[]> => {
      const download = href.replace('/files/', '/download/files/')
      const replies = [await get(team.as(member), href), await browse(download, member)]
      return replies.map(({ text }) => text)
    }
    expect(await read('member')).toEqual([part.content, part.content])
    const names = '# The values are for whoever uploaded this file.\nAPI_TOKEN=***\n'
    for (const member of ['admin', 'viewer', 'other'] as const)
      expect(await read(member)).toEqual([names, names])
  })

  test('logs have no secrets, and are logs', async () => {
    const log = await browse(`/runs/${id}/download/logs/node%201.log`)
    expect(log.text).toBe('started\nshop.password=***\nAuthorization: ***\n')
    expect(log.headers['content-type']).toBe('text/plain; charset=utf-8')
    for (const name of ['pipe.log', 'link.log', 'none.log', '..%2Frecord', '%2Fetc%2Fpasswd'])
      expect((await browse(`/runs/${id}/download/logs/${name}`)).status).toBe(404)
  })

  test('a run can be pinned and unpinned on its page, by its owner', async () => {
    const id = await finish()
    const cookie = cookies.get('member')!
    for (const verb of ['pin', 'unpin']) {
      const page = await browse(`/runs/${id}`)
      expect(/action="([^"]+)"><button[^>]*>(\w+) this run/i.exec(page.text)?.slice(1)).toEqual([
        `/runs/${id}/${verb}`,
        verb === 'pin' ? 'Pin' : 'Unpin'
      ])
      const reply = await submit(team.service, `/runs/${id}/${verb}`, {}, { cookie })
      expect([reply.status, reply.headers.location]).toEqual([303, `/runs/${id}`])
    }
  })

  test('that were deleted are missing, and the page is still there', async () => {
    const gone = await finish()
    await put(gone, 'p95 < 10s')
    for (const part of ['results', 'files', 'logs'])
      rmSync(join(team.service.dataDir, 'runs', gone, part), { recursive: true, force: true })
    const page = await browse(`/runs/${gone}`)
    expect(page.status).toBe(200)
    expect(linksOf(page).map((link) => link.replace(/^.*\//, ''))).toEqual(['verdict.json', 'archive.tar.gz'])
    expect(sectionOf(page).match(/missing/g)).toHaveLength(2)
    expect((await browse(`/runs/${gone}/download/result.csv`)).status).toBe(404)
    expect(page.text).not.toContain('Repeat this run')
    const cookie = cookies.get('member')!
    const repeat = await submit(team.service, `/runs/${gone}/repeat`, { once: 'a1' }, { cookie })
    expect([repeat.status, repeat.text]).toEqual([
      410,
      `run ${gone} cannot be repeated: its files have been deleted`
    ])
    const verdict = await browse(`/runs/${gone}/download/verdict.json`)
    expect(JSON.parse(verdict.text)).toMatchObject({ verdict: 'inconclusive' })
    const other = await finish()
    const compared = await browse(`/runs/${other}/compare?with=${gone}`)
    expect(compared.status).toBe(200)
    expect(compared.text).toContain('There are no figures of')
  })

  test('of a run without samples', async () => {
    const id = await finish({ override_parameters: '-Jrehearsal.problem=no-such-class' })
    await put(id, 'p95 < 10s')
    const page = await browse(`/runs/${id}`)
    expect(page.text).toContain('no-such-class')
    for (const link of linksOf(page)) expect((await browse(link)).status).toBe(200)
    const { verdict, metrics } = JSON.parse((await browse(`/runs/${id}/download/verdict.json`)).text) as {
      verdict: string
      metrics: { overall: unknown }
    }
    expect([verdict, metrics.overall]).toEqual(['inconclusive', null])
  })
})

test('verdict.json is what its schema says, with lines that only the gate can judge', async () => {
  const schema = JSON.parse(readFileSync('schema/verdict.schema.json', 'utf8')) as object
  const validate = new Ajv2020({ strict: false }).compile(schema)
  const id = await finish()
  const read = async (): Promise<Record<string, unknown>> => {
    const reply = await get(team.as('member'), `/runs/${id}/verdict.json`)
    const document = JSON.parse(reply.text) as Record<string, unknown>
    expect([validate(document), validate.errors]).toEqual([true, null])
    return document
  }
  expect((await put(id, 'p95 < 10s\nwarn: p99 < 1ms')).status).toBe(200)
  expect(await read()).toMatchObject({
    ...{ verdict: 'passed', rehearsal: true, 'run-id': id },
    'run-url': `${team.service.url}/runs/${id}`,
    thresholds: [
      { text: 'p95 < 10s', verdict: 'passed' },
      { text: 'p99 < 1ms', level: 'warn', verdict: 'failed' }
    ]
  })
  await put(id, 'p95 < 10s\np95 <= baseline + 10%')
  expect(await read()).toMatchObject({
    verdict: 'inconclusive',
    reason: expect.stringContaining('only the gate knows'),
    thresholds: [{ verdict: 'passed' }, { verdict: 'inconclusive', outcome: 'no baseline', limit: null }]
  })
  await put(id, 'p95 < 1ms\np95 <= baseline + 10%')
  expect(await read()).toMatchObject({ verdict: 'failed' })
})

test('a run without thresholds has no verdict: nothing says that it passed', async () => {
  const id = await finish({ override_parameters: '-Jrehearsal.errors=100' })
  const reply = await get(team.as('viewer'), `/runs/${id}/verdict.json`)
  expect([reply.status, reply.json.error]).toEqual([409, expect.stringContaining('has no thresholds')])
  expect(linksOf(await browse(`/runs/${id}`)).join()).not.toContain('verdict.json')
})

describe('a run is repeated', () => {
  let id: string
  beforeAll(async () => {
    id = await finish({ name: 'again' })
  })

  const onceOf = ({ text }: Reply): string | undefined => /name="once" value="(\w+)"/.exec(text)?.[1]
  const countRuns = async (): Promise<number> => (await get(team.as('viewer'), '/runs?name=again')).json.total

  test('by its owner and by admins, once for two clicks', async () => {
    const before = await countRuns()
    const once = onceOf(await browse(`/runs/${id}`))!
    const cookie = cookies.get('member')!
    const [first, second] = await Promise.all([
      submit(team.service, `/runs/${id}/repeat`, { once }, { cookie }),
      submit(team.service, `/runs/${id}/repeat`, { once }, { cookie })
    ])
    expect(first.status).toBe(303)
    expect(first.headers.location).toMatch(/^\/runs\/[0-9a-f]{24}$/)
    expect(second.headers.location).toBe(first.headers.location)
    expect(await countRuns()).toBe(before + 1)
    const next = onceOf(await browse(`/runs/${id}`, 'admin'))!
    expect(next).not.toBe(once)
    const third = await submit(
      team.service,
      `/runs/${id}/repeat`,
      { once: next },
      { cookie: cookies.get('admin')! }
    )
    expect(third.status).toBe(303)
    expect(await countRuns()).toBe(before + 2)
    expect(team.audited()).toContainEqual(
      expect.objectContaining({ action: 'run.repeat', user: 'admin', target: id, status: 303 })
    )
  })

  test('with its thresholds, and neither its verdict, its source nor the tag of its gate', async () => {
    const marker = 'loadgate-0b7e3c1a-9f1d-4c55-8a0e-1d2c3b4a5f60'
    const judged = await finish({ notes: NOTES, tag_list: `nightly,${marker}` })
    await put(judged, 'p95 < 1ms', { warm_up: 1, on_stall: 'warn' })
    expect((await get(team.as('member'), `/runs/${judged}/verdict.json`)).text).toContain('"failed"')
    const again = (await send(team.as('member'), 'POST', `/runs/${judged}/repeat`)).json.uuid
    const thresholds = (await get(team.as('viewer'), `/runs/${again}/thresholds`)).json
    expect(thresholds).toMatchObject({ thresholds: 'p95 < 1ms', warm_up: 1, on_stall: 'warn' })
    expect(thresholds).not.toHaveProperty('verdict')
    const { json } = await waitForStatus(team.as('viewer'), `/runs/${again}`, ['finished'])
    expect(json).toMatchObject({
      notes: `Repeat of ${judged}\nof the <b>night</b>`,
      tag_list: ['nightly']
    })
  })

  test('once, also if the reply was lost with the service', async () => {
    const services = createServices()
    const first = await services.start(WITH_PAGES)
    const { dataDir } = first
    const { uuid } = (await finishRun(first)).json
    const repeat = async (service: Service): Promise<unknown> => {
      const cookie = await visit(service)
      return (await submit(service, `/runs/${uuid}/repeat`, { once: 'a1' }, { cookie })).headers.location
    }
    const location = await repeat(first)
    await first.close()
    const second = await services.start({ dataDir, ...WITH_PAGES })
    expect(location).toMatch(/^\/runs\/[0-9a-f]{24}$/)
    expect(await repeat(second)).toBe(location)
    expect((await get(second, '/runs')).json.total).toBe(2)
    await services.closeAll()
  })

  test.each<[string, Member, Record<string, string>, number]>([
    ['a viewer', 'viewer', {}, 403],
    ['another member', 'other', {}, 403],
    ['a page of another site', 'member', { origin: 'https://evil.example' }, 403],
    ['whoever has no session', 'member', { cookie: 'none=1' }, 401]
  ])('not by %s', async (_, member, headers, status) => {
    const before = await countRuns()
    const reply = await submit(
      team.service,
      `/runs/${id}/repeat`,
      { once: 'abc' },
      { cookie: cookies.get(member)!, ...headers }
    )
    expect(reply.status).toBe(status)
    expect(await countRuns()).toBe(before)
  })

  test('and it is not offered to those who may not', async () => {
    for (const member of ['viewer', 'other'] as const)
      expect((await browse(`/runs/${id}`, member)).text).not.toContain('/repeat"')
  })
})

describe('a run in progress', () => {
  test('is starting until its first sample, has its plan, and the rest with its end', async () => {
    const id = await createRun(team.as('member'), runForm({ ...REAL_TIME, name: 'slow' }))
    await waitForStatus(team.as('viewer'), `/runs/${id}`, ['running'])
    const page = await browse(`/runs/${id}`)
    expect(linksOf(page)).toEqual([expect.stringMatching(/\/download\/files\//)])
    expect(sectionOf(page)).toContain('are here once the run has ended')
    expect(page.text).toMatch(/<section id="actions"[^>]* hidden=""/)
    const refused = await submit(
      team.service,
      `/runs/${id}/repeat`,
      { once: 'x1' },
      { cookie: cookies.get('member')! }
    )
    expect([refused.status, refused.text]).toEqual([422, `run ${id} is still running`])
    expect((await browse(`/runs/${id}/compare`)).status).toBe(409)
    const events = await listen(team.service, `/runs/${id}/events`, cookies.get('viewer')!)
    const sampled = await nextWhere(events, ({ live }) => live?.elapsedMs != null)
    expect(sampled.live!.elapsedMs).toBeLessThan(60_000)
    const { json } = await get(team.as('viewer'), `/runs/${id}`)
    const { first_sample: first } = json as unknown as { first_sample: string }
    expect(Date.parse(first)).toBeGreaterThanOrEqual(Date.parse(json.started))
    await send(team.as('member'), 'POST', `/runs/${id}/stop`)
    const last = await nextWhere(events, ({ live }) => live === undefined)
    expect(last.links?.files.map(({ name }) => name)).toContain(`${id}.tar.gz`)
    expect(last.links?.filesToCome).toBeNull()
    events.close()
  })
})

describe('the trend of a project', () => {
  test('has the runs of the same plan up to this one, with their commits, and no others', async () => {
    const notes = (digit: string): string => `Commit: ${PLACE}/commit/${digit.repeat(40)}`
    const project = 'trend'
    const ids: string[] = []
    for (const digit of ['1', '2', '3'])
      ids.push(await finish({ project, notes: notes(digit), threads: digit === '3' ? '4' : '2' }))
    await finish({ project: 'another' })
    await finish({ project, override_parameters: '-Jrehearsal.problem=no' })
    const otherPlan = runForm({ project, duration: '2' }).map((part) =>
      'fileName' in part ? { ...part, fileName: 'other.jmx' } : part
    )
    await finishRun(team.as('member'), otherPlan)
    const newest = await finish({ project, threads: '4' })
    const { trend } = readDocument((await browse(`/runs/${newest}`)).text)
    expect(trend?.branch).toBe('plan.jmx in trend')
    expect(trend?.points.map(({ runId }) => runId)).toEqual([...ids, newest])
    expect(trend?.points.map(({ commit }) => commit)).toEqual(['1111111', '2222222', '3333333', '–'])
    expect(trend?.points.map(({ isAfterChange }) => isAfterChange)).toEqual([false, false, true, false])
    expect(trend?.points.map(({ isHead }) => isHead)).toEqual([false, false, false, true])
    const { views } = readDocument((await browse(`/runs/${ids[1]!}`)).text)
    const second = trend!.points[1]!
    expect(second.p95Ms).toBeCloseTo(views[0]!.figures.p95!, 0)
    expect(second.throughput).toBeCloseTo(views[0]!.figures.throughput!, 1)
    const early = readDocument((await browse(`/runs/${ids[1]!}`)).text).trend
    expect(early?.points.map(({ runId }) => runId)).toEqual(ids.slice(0, 2))
    expect(readDocument((await browse(`/runs/${ids[0]!}`)).text).trend).toBeNull()
  })
})

describe('two runs are compared', () => {
  const LABEL = `<i onclick="x">&'`
  const plan = (label: string): string =>
    `<jmeterTestPlan><hashTree><HTTPSamplerProxy testname="${label.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)}" enabled="true"/></hashTree></jmeterTestPlan>`
  const run = async (fields: Record<string, string>, content = plan(LABEL)): Promise<string> => {
    const form = runForm({ duration: '2', ...fields }, specFields(), content)
    return (await finishRun(team.as('member'), form)).json.uuid
  }

  test('with both figures and the change, for all samples and by label', async () => {
    const before = await run({ project: 'pair', override_parameters: '-Jrehearsal.mean=50' })
    const after = await run({ project: 'pair', override_parameters: '-Jrehearsal.mean=100' })
    const page = await browse(`/runs/${after}/compare?with=${before}`, 'viewer')
    expect(page.status).toBe(200)
    expect(page.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
    const [old, now] = await Promise.all(
      [before, after].map(async (id) => readDocument((await browse(`/runs/${id}`)).text).views[0]!.figures)
    )
    const change = Math.round((now!.p95! / old!.p95! - 1) * 1000) / 10
    expect(change).toBeGreaterThan(50)
    const rows = [...page.text.matchAll(/<tr><th scope="row">(.*?)<\/th>(.*?)<\/tr>/gs)].map(
      ([, name, cells]) => [name, ...[...cells!.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell)]
    )
    const p95 = rows.find(([name]) => name === 'p95')!
    expect(p95[1]).toMatch(/^[\d.]+ ms$/)
    expect(p95[3]).toMatch(/^(<span class="few">)?\+[\d.]+ ms <span/)
    expect(p95[3]).toContain(`>+${change >= 100 ? Math.round(change) : change} %`)
    expect(rows.find(([name]) => name === 'Error rate')?.[3]).toMatch(/points$/)
    const label = rows.find(([name]) => name?.includes('onclick'))!
    expect(label[0]).toBe('&#60;i onclick=&#34;x&#34;&#62;&#38;&#39;')
    expect(label).toHaveLength(12)
    expect(page.text).toMatch(/differ in the parameter -Jrehearsal.mean \(A: 50, B: 100\)\.</)
    const same = await browse(`/runs/${after}/compare?with=${after}`)
    expect(same.text).toContain('This is one run, compared with itself.')
  })

  test('and what differs besides is said', async () => {
    const one = await run({ project: 'left', threads: '2' })
    const two = await run({ project: 'right', threads: '3', duration: '3' }, plan('another'))
    const page = await browse(`/runs/${two}/compare?with=${one}`)
    expect(page.text).toContain('they differ in the project, the plan, the threads and the duration.')
  })

  test('with the one before it, unless another one is named', async () => {
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push(await run({ project: 'row', name: `run ${n}` }))
    const page = await browse(`/runs/${ids[1]!}`)
    const options = [...page.text.matchAll(/<option value="(\w+)"/g)].map(([, id]) => id)
    expect(options).toEqual([ids[0], ids[2]])
    const compared = await browse(`/runs/${ids[1]!}/compare`)
    expect(compared.text).toContain(`<option value="${ids[0]!}" selected="">`)
    const alone = await run({ project: 'alone' })
    expect((await browse(`/runs/${alone}`)).text).not.toContain('name="with"')
    expect((await browse(`/runs/${alone}/compare`)).text).toContain('There is no other run of this project')
  })

  test('and what there is not is refused', async () => {
    const id = await run({ project: 'refused' })
    expect((await browse(`/runs/${id}/compare?with=none`)).status).toBe(404)
    expect((await browse(`/runs/${id}/compare?with=a&with=b`)).status).toBe(400)
    expect((await browse('/runs/none/compare')).status).toBe(404)
    const stranger = await get(team.service, `/runs/${id}/compare`, { token: null, headers: HTML })
    expect(stranger.status).toBe(401)
  })
})
