import { afterAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTeams } from '../accounts/team.js'
import { makeGrid, makeRun } from '../store/records.js'
import {
  createRun,
  createServices,
  type FormPart,
  get,
  postForm,
  postJson,
  runForm,
  send,
  SPEC,
  waitForStatus
} from '../support.js'

const services = createServices()
const teams = createTeams()
afterAll(async () => {
  await services.closeAll()
  await teams.closeAll()
})

const MB = 1_000_000
/** Three bytes each. */
const long = (length: number): string => '€'.repeat(length)

describe('a page of a list', () => {
  test('of runs is small, however much each of them says; its own address has all of it', async () => {
    const service = await services.start()
    const text = (count: number): string[] =>
      Array.from({ length: count }, (_, index) => `${index}${long(48)}`)
    for (let sequence = 1; sequence <= 50; sequence++)
      service.store.create({
        run: makeRun({
          ...{ sequence, status: 'finished', remoteErrors: long(10_000), stoppedMs: 2, startedMs: 1 },
          request: { name: long(255), project: long(255), notes: long(10_000), tags: text(50) },
          user: { id: 1, name: 'u'.repeat(64) },
          files: Array.from({ length: 1000 }, (_, index) => ({
            uuid: index.toString(16).padStart(24, '0'),
            name: `${index}${long(60)}`
          })),
          toolLines: text(1000).map((line) => ({ text: line, holds: true, reason: long(10) })),
          asideGroups: text(100)
        }),
        grids: []
      })
    const list = await get(service, '/runs')
    expect([list.json.total, list.json._embedded.runs.length]).toEqual([50, 50])
    expect(Buffer.byteLength(list.text)).toBeLessThan(MB)
    const own = await get(service, `/runs/${list.json._embedded.runs[0]!.uuid}`)
    expect(own.text).toContain(long(10_000))
    expect(own.json._embedded.files).toHaveLength(1000)
  })

  test('of grids is small', async () => {
    const service = await services.start()
    for (let index = 0; index < 50; index++)
      service.store.create({
        grids: [
          makeGrid({
            ...{ status: 'started', startedMs: 1 },
            spec: {
              ...{ region: 'r'.repeat(100), instanceQuantity: 1000, instanceType: 't'.repeat(100) },
              ...{ infrastructure: 'demand', stopAfterMin: 10 }
            }
          })
        ]
      })
    const { text, json } = await get(service, '/grids')
    expect([json.total, Buffer.byteLength(text) < MB]).toEqual([50, true])
  })
})

describe('a request is refused', () => {
  const GRID = Object.fromEntries(SPEC)
  const given = (name: string, content: string): FormPart => ({
    name: 'run_files[]',
    fileName: name,
    content
  })
  const secretLines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `token${index}=value-${index}\n`).join('')
  const groups = Array.from({ length: 101 }, (_, n) => `<SetupThreadGroup testname="g${n}"/><hashTree/>`)
  const CASES: [string, FormPart[], string][] = [
    [
      'with a file of variables that is too large',
      [...runForm(), given('environment', 'A=b\n'.repeat(70_000))],
      'environment must not be larger than 256 KiB'
    ],
    [
      'with more secrets than can be redacted',
      [...runForm(), given('user.properties', secretLines(1001))],
      'the run has 1001 secret values in its parameters and files, and at most 1000 can be redacted'
    ],
    [
      'with longer secrets than can be redacted',
      [
        ...runForm(),
        given('environment', `A_TOKEN=${'a'.repeat(40_000)}\n`),
        given('user.properties', `b.token=${'b'.repeat(30_000)}\n`)
      ],
      'the run has secret values in its parameters and files of 70000 characters together, and at most 65536 can be redacted'
    ],
    [
      'with too many groups that are kept with the run',
      runForm({}, undefined, `<jmeterTestPlan><hashTree>${groups.join('')}</hashTree></jmeterTestPlan>`),
      'plan.jmx has too many setUp and tearDown thread groups, or too long names of them: at most 100, with 10000 characters in all'
    ],
    [
      'with too many nodes',
      runForm({}, [['run[grids][][instance_quantity]', '1001']]),
      'grid 1: instance_quantity must be a whole number from 1 to 1000, not "1001"'
    ]
  ]

  test.each(CASES)('%s', async (_name, form, words) => {
    const service = await services.start()
    const { status, json } = await postForm(service, '/runs', form)
    expect([status, json.error]).toEqual([422, words])
    expect((await get(service, '/runs')).json.total).toBe(0)
  })

  test('with thousands of grids, or of problems, in a few words', async () => {
    const service = await services.start()
    const create = (run: object): ReturnType<typeof postJson> => postJson(service, '/runs', { run })
    const many = await create({ tool: 'jmeter', grids: Array.from({ length: 1_900 }, () => 'a') })
    expect([many.status, many.json.error]).toEqual([
      422,
      expect.stringContaining('run[grids] must not have more than 100 grids')
    ])
    const hosts = Array.from({ length: 20_000 }, (_, index) => `h${index}`)
      .join(' ')
      .slice(0, 60_000)
    const odd = await create({ tool: 'jmeter', grids: [GRID], override_hosts: hosts })
    expect([odd.status, odd.text.length < 60_000]).toEqual([422, true])
    expect(odd.json.error).toMatch(/and [\d,]+ more problems$/)
  })
})

describe('a file that is made for secrets', () => {
  const FILES: [string, string, string][] = [
    [
      'environment',
      '# of the shop: hush-0\nexport PASSWORD="hush-1"\nURL=http://hush-2\n',
      'PASSWORD=***\nURL=***\n'
    ],
    [
      'user.properties',
      '! hush-0\npass\\:word=hush-1 \\\n  hush-2\nusers: 5\n',
      'pass:word=***\nusers=***\n'
    ],
    ['system.properties', 'a=hush-1', 'a=***\n']
  ]

  test.each(FILES)(
    '%s is whole for its creator, and has names only for all others',
    async (name, text, names) => {
      const team = await teams.start()
      const id = await createRun(team.as('member'), [
        ...runForm(),
        { name: 'run_files[]', fileName: name, content: text }
      ])
      const { files } = (await get(team.as('member'), `/runs/${id}`)).json._embedded
      const { pathname } = new URL(files.find((file) => file.name === name)!.href)
      expect((await get(team.as('member'), pathname)).text).toBe(text)
      for (const member of ['admin', 'other', 'viewer'] as const) {
        const reply = await get(team.as(member), pathname)
        expect([reply.status, reply.text]).toEqual([
          200,
          `# The values are for whoever uploaded this file.\n${names}`
        ])
        const part = await send(team.as(member), 'GET', pathname, { headers: { range: 'bytes=0-1000' } })
        expect(part.text).not.toContain('hush')
      }
    }
  )

  test('stays with whoever uploaded it when somebody else repeats the run: its values are used, and not shown', async () => {
    const team = await teams.start()
    const text = 'PASSWORD=hush-1\n'
    const first = await createRun(team.as('member'), [
      ...runForm({ duration: '1' }),
      { name: 'run_files[]', fileName: 'environment', content: text }
    ])
    const read = async (id: string): Promise<[string, string][]> => {
      await waitForStatus(team.as('admin'), `/runs/${id}`, ['finished'])
      const { files } = (await get(team.as('admin'), `/runs/${id}`)).json._embedded
      const { pathname } = new URL(files.find(({ name }) => name === 'environment')!.href)
      return Promise.all(
        (['member', 'admin', 'other'] as const).map(async (who): Promise<[string, string]> => [
          who,
          (await get(team.as(who), pathname)).text
        ])
      )
    }
    const names = '# The values are for whoever uploaded this file.\nPASSWORD=***\n'
    const expected = [
      ['member', text],
      ['admin', names],
      ['other', names]
    ]
    expect(await read(first)).toEqual(expected)
    const byAdmin = (await send(team.as('admin'), 'POST', `/runs/${first}/repeat`)).json.uuid
    expect(await read(byAdmin)).toEqual(expected)
    // And of a repeat of that.
    const again = (await send(team.as('admin'), 'POST', `/runs/${byAdmin}/repeat`)).json.uuid
    expect(await read(again)).toEqual(expected)
    const used = join(team.service.dataDir, 'runs', again, 'files', 'environment')
    expect(readFileSync(used, 'utf8')).toBe(text)
  })
})
