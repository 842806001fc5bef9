import { expect } from '@jest/globals'
import { specFields } from '../../support.js'
import { GRID, gridForm, pathOf, pick, row, type Row, runForm, waitForEnd, type World } from './world.js'

const text: unknown = expect.any(String)
const REGIONS =
  'ap-southeast-2 us-east-1 us-west-1 us-west-2 eu-west-1 eu-central-1 ap-southeast-1 ap-northeast-1 sa-east-1'
const TOOLS = {
  jmeter: 'jmx',
  gatling: 'java',
  'java-selenium-chrome': 'java',
  'java-selenium-firefox': 'java',
  'service-chrome': 'ts'
}
const CLOUD = {
  ...{
    aws_platform: 'ec2_default_vpc',
    aws_tags: 'a=b,c=d',
    aws_availability_zone: 'us-east-1a',
    aws_spot_price: '1.5'
  },
  ...{ azure_tenant_id: 't', aws_arn: 'arn:aws:iam::1:role/x', aws_vpc_identifier: 'vpc-1' },
  ...{
    aws_vpc_subnet_public: 'subnet-1',
    aws_vpc_subnet_private: 'subnet-2',
    aws_vpc_security_groups: 'sg-1,sg-2'
  }
}

type Changes = Record<string, string | undefined>
const grid =
  (changes: Changes) =>
  async ({ post }: World): Promise<number> =>
    (await post('/grids', gridForm(changes))).status
const run =
  (changes: Changes, ...rest: [grids?: Parameters<typeof runForm>[1], files?: string[]]) =>
  async ({ post }: World): Promise<number> =>
    (await post('/runs', runForm(changes, ...rest))).status
/** What is sent as it stands, and comes back in the document. */
const sent =
  (key: string, value: string, shown: string = key) =>
  async ({ post }: World): Promise<unknown> =>
    pick((await post('/runs', runForm({ [key]: value }))).json, shown)

const requests: readonly Row[] = [
  row('4 bodies are multipart forms with `name[key]`', ({ gridMade }) => gridMade.status, 201),
  row('4 repeated with `[]` for arrays', ({ made }) => made.json._embedded.grids.length, 2),
  row(
    '4 JSON in the style of nested attributes is accepted',
    async ({ json }) => (await json('/grids', { grid: GRID })).status,
    201
  ),
  row(
    '4 with numbers as numbers',
    async ({ json }) =>
      (await json('/grids', { grid: { ...GRID, instance_quantity: 1, stop_after: 10 } })).status,
    201
  ),
  row(
    '4 JSON for a run, whose plan is a file',
    async ({ json }) => (await json('/runs', { run: { tool: 'jmeter', grids: [GRID] } })).text,
    expect.stringContaining('run_files is missing'),
    'JSON for `POST /runs`'
  ),
  row(
    '4 replies are JSON',
    ({ run: reply, list, account }) => [reply, list, account].map(({ headers }) => headers['content-type']),
    Array(3).fill('application/json; charset=utf-8')
  ),
  ...['/account', '/runs', '/openapi.json'].map((path) =>
    row(
      `4 HEAD gives the headers only: ${path}`,
      async ({ send }) => {
        const reply = await send('HEAD', path)
        return [reply.status, reply.text]
      },
      [200, '']
    )
  ),
  ...['', '/report', '/result.csv'].map((path) =>
    row(
      `4 HEAD of a run: ${path}`,
      async ({ send, run: { json } }) => (await send('HEAD', `/runs/${json.uuid}${path}`)).status,
      200
    )
  ),
  row(
    '4 HEAD of a grid',
    async ({ send, gridMade }) => (await send('HEAD', `/grids/${gridMade.json.uuid}`)).status,
    200
  ),
  ...['stop', 'repeat'].map((name) =>
    row(
      `4 HEAD of what changes something: ${name}`,
      async ({ send, run: { json } }) => (await send('HEAD', `/runs/${json.uuid}/${name}`)).status,
      404,
      '`HEAD` of `stop` and `repeat`'
    )
  ),
  row('paths work without `/api`', ({ account }) => account.status, 200),
  row(
    'and with it, as in the links of replies',
    async ({ at, run: { json } }) => (await at(json._links.self.href)).status,
    200
  )
]

const grids: readonly Row[] = [
  ...REGIONS.split(' ').map((region) => row(`4.1 \`grid[region]\` ${region}`, grid({ region }), 201)),
  row('4.1 `grid[region]` is one of these', grid({ region: 'mars-1' }), 201, 'regions'),
  ...Object.keys(GRID).map((key) =>
    row(`4.1 \`grid[${key}]\` is required`, grid({ [key]: undefined }), 201, 'required keys of a grid')
  ),
  row(
    '4.1 `grid[instance_quantity]` is the number of nodes',
    ({ gridStarted }) => (pick(gridStarted.json, 'resources') as unknown[]).length,
    2
  ),
  ...['one', '1.5', '0'].map((value) =>
    row(
      `4.1 \`grid[instance_quantity]\` is an integer from 1: ${value}`,
      grid({ instance_quantity: value }),
      422
    )
  ),
  row('4.1 `grid[stop_after]` is greater than 0', grid({ stop_after: '0' }), 422),
  row('4.1 at most 2880', grid({ stop_after: '2880' }), 201),
  row('4.1 and not more', grid({ stop_after: '2881' }), 422),
  ...['demand', 'hosted'].map((infrastructure) =>
    row(`4.1 \`grid[infrastructure]\` ${infrastructure}`, grid({ infrastructure }), 201)
  ),
  row('4.1 `grid[infrastructure]` is one of these', grid({ infrastructure: 'cloud' }), 422),
  row(
    '4.1 `grid[instance_type]` is the size of a node',
    grid({ instance_type: 'any.size' }),
    201,
    '`instance_type`'
  ),
  ...Object.entries(CLOUD).map(([key, value]) =>
    row(`4.1 \`grid[${key}]\``, grid({ [key]: value }), 201, 'cloud keys')
  ),
  row(
    '4.1 `grid[credential_id]` is the id of a credential of the account',
    async (world) =>
      grid({ credential_id: String(pick(world.account.json, '_embedded.credentials.0.id')) })(world),
    201,
    'credentials'
  ),
  row(
    '4.1 the reply has `status` `queued` and no nodes',
    ({ gridMade: { json } }) => [json.status, pick(json, 'nodes')],
    ['queued', []]
  ),
  row(
    '4.2 the reply has `resources`',
    ({ gridStarted }) => pick(gridStarted.json, 'resources'),
    expect.any(Array)
  ),
  row('4.2 a grid that does not exist', async ({ at }) => (await at('/grids/none')).status, 404),
  row(
    '4.3 the reply has `status` and `resources`',
    ({ gridDeleted: { json } }) => [json.status, pick(json, 'resources')],
    ['stopped', expect.any(Array)]
  ),
  row(
    '4.3 the definition has the singular',
    async ({ send, gridMade }) => (await send('DELETE', `/grid/${gridMade.json.uuid}`)).status,
    200
  ),
  row(
    '4.3 the general rule is 204 with an empty body',
    ({ gridDeleted }) => gridDeleted.status,
    200,
    '204 for `DELETE`'
  )
]

const runs: readonly Row[] = [
  ...Object.entries(TOOLS).map(([tool, ending]) =>
    row(`4.4 \`run[tool]\` ${tool}`, run({ tool }, specFields(), [`plan.${ending}`]), 201)
  ),
  row('4.4 `run[tool]` is one of these', run({ tool: 'curl' }), 422),
  row('4.4 `run[tool]` is required', run({ tool: undefined }), 422),
  row('4.4 `run_files` is required', run({}, specFields(), []), 422),
  row(
    '4.4 `run_files` for one file',
    async ({ post }) =>
      (
        await post(
          '/runs',
          runForm().map((part) => ('fileName' in part ? { ...part, name: 'run_files' } : part))
        )
      ).status,
    201
  ),
  row(
    '4.4 `run_files[]` for several',
    ({ run: reply }) => reply.json._embedded.files.map(({ name }) => name),
    ['plan.jmx', 'users.csv']
  ),
  row('4.4 `run[grids]` is required', run({}, []), 422),
  row(
    '4.4 a grid is a specification',
    ({ made }) => pick(made.json, '_embedded.grids.0.region'),
    'us-east-1'
  ),
  row(
    '4.4 or a reference to a grid by `uuid`',
    ({ onGrid, gridMade }) => [
      onGrid.status,
      pick(onGrid.json, '_embedded.grids.0.uuid') === gridMade.json.uuid
    ],
    [201, true]
  ),
  row(
    '4.4 also one that was created with an earlier run, and stays `started` after it',
    async ({ post, at, run: { json } }) => {
      const uuid = String(pick(json, '_embedded.grids.0.uuid'))
      const { status } = await post('/runs', runForm({}, [['run[grids][][uuid]', uuid]]))
      return [(await at(`/grids/${uuid}`)).json.status, status]
    },
    ['started', 201]
  ),
  row('4.4 `stop_after` of a specification means the same', run({}, specFields({ stop_after: '2881' })), 422),
  row('4.4 `run[name]`', sent('name', 'Checkout'), 'Checkout'),
  row('4.4 `run[notes]`', sent('notes', 'a note'), 'a note'),
  row(
    '4.4 `run[project]`',
    async ({ post, at }) => {
      await post('/runs', runForm({ project: 'Cart' }))
      return pick((await at('/runs?project=Cart')).json, 'total')
    },
    1
  ),
  row('4.4 `run[tag_list]`', sent('tag_list', 'a,b'), ['a', 'b']),
  ...['public', 'private'].map((value) =>
    row(`4.4 \`run[privacy_flag]\` ${value}`, run({ privacy_flag: value }), 201, '`privacy_flag`')
  ),
  row('4.4 `run[privacy_flag]` is one of these', run({ privacy_flag: 'secret' }), 422),
  row('4.4 examples send `run[privacy]`', run({ privacy_flag: undefined, privacy: 'public' }), 201),
  row('4.4 `run[threads]`', sent('threads', '7'), 7),
  row('4.4 `run[rampup]`', sent('rampup', '0'), 0),
  row('4.4 `run[duration]`', sent('duration', '9'), 9),
  ...['threads', 'rampup', 'duration'].map((key) =>
    row(`4.4 \`run[${key}]\` is an integer`, run({ [key]: 'many' }), 422)
  ),
  row('4.4 `run[override_hosts]`', run({ override_hosts: 'a.example/10.0.0.1, b.example/10.0.0.2' }), 201),
  row('4.4 `run[override_parameters]`', run({ override_parameters: '-Dparam=value, -Jparam=value' }), 201),
  row('4.4 the reply is the run', ({ made: { json } }) => [json.status, json.uuid], ['queued', text]),
  row(
    '4.5 the id is a segment of the address of its page',
    ({ run: { json } }) => json.permalink.split('/').includes(json.uuid),
    true
  ),
  row(
    '4.5 the reply has `_embedded.grids`, `files`, `results`, `archives`',
    ({ run: { json } }) =>
      ['grids', 'files', 'results', 'archives'].filter((key) => !(key in json._embedded)),
    []
  ),
  row('4.5 a run that does not exist', async ({ at }) => (await at('/runs/none')).status, 404),
  row(
    '4.6 GET stops a run, and the reply has `run_files`',
    ({ stopped: { json } }) => [json.status, json._embedded.run_files.length],
    ['finished', 1]
  ),
  row(
    '4.6 one that has ended stays as it is',
    async ({ at, run: { json } }) => (await at(`/runs/${json.uuid}/stop`)).json.status,
    'finished'
  ),
  row(
    '4.7 GET repeats a run, and the reply is the new one',
    ({ repeated, run: { json } }) => [
      repeated.json.status,
      repeated.json.uuid === json.uuid,
      repeated.json._embedded.run_files.length
    ],
    ['queued', false, 2]
  ),
  row('4.7 it runs to its end', ({ repeated, at }) => waitForEnd(at, repeated.json.uuid), 'finished'),
  row('4.8 the list of all runs, without parameters', ({ list }) => list.status, 200),
  row(
    '4.8 `page` as in the links selects a page',
    async ({ at, list }) => {
      const next = await at(list.json._links.next.href)
      return [next.status, next.json._links.self.href, next.json._embedded.runs.length > 0]
    },
    [200, '/api/runs?page=2', true]
  ),
  row('4.9 the report has a `summary`, which is text', ({ report }) => pick(report.json, 'summary'), text),
  row(
    '4.10 `grid_id` selects a grid',
    async ({ run: { json }, at }) =>
      (await at(pathOf(json._embedded.results[0]!.href))).headers['content-type'],
    'text/csv; charset=utf-8'
  ),
  row(
    '4.10 without it, all of them',
    async ({ run: { json }, at }) => {
      const [all, ...each] = await Promise.all(
        [`/runs/${json.uuid}/result.csv`, ...json._embedded.results.map(({ href }) => pathOf(href))].map(at)
      )
      const rows = (reply?: { text: string }): number => (reply?.text.trimEnd().split('\n').length ?? 0) - 1
      return rows(all) === each.reduce((sum, reply) => sum + rows(reply), 0)
    },
    true
  ),
  row(
    '4.10 a grid that the run does not have',
    async ({ run: { json }, at }) => (await at(`/runs/${json.uuid}/result.csv?grid_id=none`)).status,
    404
  ),
  row('4.11 no parameters', ({ account }) => account.status, 200)
]

/** Section 4: the operations. */
export const OPERATIONS: readonly Row[] = [...requests, ...grids, ...runs]
