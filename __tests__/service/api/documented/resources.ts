import { expect } from '@jest/globals'
import { fields, pathOf, pick, row, type Row, runForm, waitForEnd, type World } from './world.js'

const text: unknown = expect.any(String)
const integer: unknown = expect.any(Number)
const TIMESTAMP: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const link = (path: RegExp): unknown => expect.stringMatching(new RegExp(`^/api${path.source}$`))

const csvs = ({ run, at }: World): Promise<string[]> =>
  Promise.all(run.json._embedded.results.map(async ({ href }) => (await at(pathOf(href))).text))

/** Sections 1 to 3: what there is, its fields, its states. */
export const RESOURCES: readonly Row[] = [
  row(
    '1.1 a plan and data files are uploaded and run on several grids',
    ({ run }) => [pick(run.json, 'status'), run.json._embedded.files.length, run.json._embedded.grids.length],
    ['finished', 2, 2]
  ),
  row(
    '1.2 a grid is created in a chosen region, on demand',
    ({ gridMade }) => [pick(gridMade.json, 'region'), pick(gridMade.json, 'infrastructure')],
    ['us-east-1', 'demand']
  ),
  row(
    "1.2 or hosted in the caller's own cloud account",
    ({ run }) => pick(run.json, '_embedded.grids.1.infrastructure'),
    'hosted',
    'hosted grids'
  ),
  row(
    '1.2 `shared` appears in responses',
    ({ list, run, gridMade }) => `${list.text}${run.text}${gridMade.text}`.includes('"shared"'),
    false,
    '`shared` grids'
  ),
  row(
    '1.3 a run can be created, fetched, listed, stopped and repeated',
    ({ made, run, list, stopped, repeated }) =>
      [made, run, list, stopped, repeated].map(({ status }) => status),
    [201, 200, 200, 200, 200]
  ),
  row(
    '1.3 a grid can be created, fetched and terminated',
    ({ gridMade, gridStarted, gridDeleted }) =>
      [gridMade, gridStarted, gridDeleted].map(({ status }) => status),
    [201, 200, 200]
  ),
  row('1.3 account details can be read', ({ account }) => account.status, 200),
  row('1.4 results are a summary report', ({ report }) => pick(report.json, 'summary'), text),
  row(
    '1.4 and a CSV file per grid',
    async (world) => (await csvs(world)).map((csv) => csv.split('\n', 1)[0]),
    [expect.stringMatching(/^timeStamp,elapsed,label,/), expect.stringMatching(/^timeStamp,elapsed,label,/)]
  ),
  row(
    '1.5 a run is polled until its status is `finished`',
    ({ run }) => pick(run.json, 'status'),
    'finished'
  ),
  row(
    '1.6 long-running operations return when they are done: a stop',
    ({ stopped }) => pick(stopped.json, 'status'),
    'finished'
  ),

  row(
    '2 every entry of `_links` is an object with `href`',
    ({ list, run, account }) =>
      [list, run, account]
        .flatMap(({ json }) => Object.values(pick(json, '_links') as Record<string, object>))
        .every((entry) => 'href' in entry),
    true
  ),
  row(
    '2 replies have `_links` and `_embedded`',
    ({ run, list, account }) =>
      [run, list, account].map(({ json }) => ['_links', '_embedded'].every((key) => key in json)),
    [true, true, true]
  ),
  row(
    '2 timestamps are ISO 8601 in UTC, with milliseconds',
    ({ run }) => pick(run.json, 'started'),
    TIMESTAMP
  ),

  ...fields('2.1', ({ gridMade }) => gridMade, '', {
    '_links.self.href': link(/\/grids\/\w+/),
    uuid: text,
    region: 'us-east-1',
    origin: text,
    instance_quantity: 2,
    instance_type: 'm5.large',
    infrastructure: 'demand',
    stop_after: 10,
    status: text,
    nodes: []
  }),
  row('2.1 `name` ends with the uuid', ({ gridMade: { json } }) => json.name.endsWith(json.uuid), true),
  row(
    '2.1 `batch_id` is there when the grid was created as part of a run',
    ({ run }) => [pick(run.json, '_embedded.grids.0.batch_id'), pick(run.json, '_embedded.grids.1.batch_id')],
    [text, text]
  ),
  row('2.1 and not otherwise', ({ gridStarted }) => pick(gridStarted.json, 'batch_id'), undefined),
  row(
    '2.1 0 as `stop_after` is seen for a `shared` grid',
    async ({ post }) => (await post('/grids', [['grid[stop_after]', '0']])).status,
    422,
    '`shared` grids'
  ),
  row('2.1 `nodes` in the run', ({ run }) => pick(run.json, '_embedded.grids.0.nodes'), [expect.anything()]),
  row(
    '2.1 `resources` instead of `nodes` at its own address',
    ({ gridStarted }) => ['resources' in gridStarted.json, 'nodes' in gridStarted.json],
    [true, false]
  ),
  row(
    '2.1 and in the reply to DELETE',
    ({ gridDeleted }) => ['resources' in gridDeleted.json, 'nodes' in gridDeleted.json],
    [true, false]
  ),

  ...fields('2.2', ({ gridStarted }) => gridStarted, 'resources.0', {
    ip: text,
    private_ip: text,
    instance_id: text,
    chef: 'complete',
    port: integer,
    started: TIMESTAMP,
    state: 'running'
  }),
  row('2.2 `url` is there in a run', ({ run }) => pick(run.json, '_embedded.grids.0.nodes.0.url'), text),

  ...fields('2.3', ({ run }) => run, '', {
    '_links.self.href': link(/\/runs\/\w+/),
    uuid: text,
    batch_id: text,
    apdex: expect.stringMatching(/^\d\.\d+ \[\d+\]$/),
    tool: expect.stringMatching(/^jmeter-.+$/),
    name: 'Nightly',
    notes: 'after the release',
    threads: 4,
    rampup: 1,
    duration: 5,
    tag_list: ['nightly', 'shop'],
    status: 'finished',
    started: TIMESTAMP,
    stopped: TIMESTAMP,
    _embedded: expect.any(Object)
  }),
  row(
    '2.3 the fields that were not given are null',
    async ({ post }) => {
      const changes = Object.fromEntries(
        ['name', 'notes', 'threads', 'rampup', 'duration', 'tag_list'].map((key) => [key, undefined])
      )
      const { json } = await post('/runs', runForm(changes))
      return ['name', 'notes', 'threads', 'rampup', 'duration', 'tag_list', 'started', 'stopped'].map((key) =>
        pick(json, key)
      )
    },
    [null, null, null, null, null, [], null, null]
  ),
  row('2.3 `batch_id` in the reply to the creation', ({ made }) => pick(made.json, 'batch_id'), text),
  row(
    "2.3 `permalink` is the address of the run's page",
    ({ run, service }) => pick(run.json, 'permalink') === `${service.url}/runs/${run.json.uuid}`,
    true
  ),
  row('2.3 `remote_errors` is null', ({ run }) => pick(run.json, 'remote_errors'), null),
  row(
    '2.3 other types of `remote_errors` are not shown',
    ({ stopped }) => pick(stopped.json, 'remote_errors'),
    text,
    '`remote_errors`'
  ),
  row(
    '2.3 created: `grids` and `files`, no `results`',
    ({ made }) => Object.keys(made.json._embedded).sort(),
    ['archives', 'files', 'grids']
  ),
  row(
    '2.3 fetched: `grids`, `files`, `results` and `archives`',
    ({ run }) => Object.keys(run.json._embedded).sort(),
    ['archives', 'files', 'grids', 'results']
  ),
  row('2.3 a file has `name` and `href`', ({ run }) => pick(run.json, '_embedded.files.1'), {
    name: 'users.csv',
    href: text
  }),
  row(
    '2.3 and the content is there',
    async ({ run, at }) => (await at(pathOf(pick(run.json, '_embedded.files.1.href')))).text,
    'a,b\n'
  ),
  row('2.3 a result has `name`, `region` and `href`', ({ run }) => pick(run.json, '_embedded.results.1'), {
    name: text,
    region: 'eu-west-1',
    href: text
  }),
  row(
    '2.3 its `href` is {base_url}/runs/<run_id>/result.csv?grid_id=<grid_id>',
    ({ run, service }) =>
      run.json._embedded.results.map(
        ({ href }, index) =>
          href ===
          `${service.url}/runs/${run.json.uuid}/result.csv?grid_id=${run.json._embedded.grids[index]!.uuid}`
      ),
    [true, true]
  ),
  row('2.3 `archives` is an array', ({ run }) => pick(run.json, '_embedded.archives'), expect.any(Array)),
  row(
    '2.3 list, stop and repeat: `run_files` with `uuid` and `name`',
    ({ list, stopped, repeated }) =>
      [pick(list.json, '_embedded.runs.0'), stopped.json, repeated.json].map((run) =>
        pick(run, '_embedded.run_files.0')
      ),
    Array(3).fill({ uuid: text, name: 'plan.jmx' })
  ),

  ...fields('2.4', ({ list }) => list, '_links', {
    'self.href': '/api/runs?page=1',
    'next.href': '/api/runs?page=2',
    'last.href': '/api/runs?page=2'
  }),
  row('2.4 `total` is the number of all runs', ({ list }) => (pick(list.json, 'total') as number) > 50, true),
  row(
    '2.4 `_embedded.runs` is a list of runs',
    ({ list }) => [list.json._embedded.runs.length, pick(list.json, '_embedded.runs.0.uuid')],
    [50, text]
  ),

  ...fields('2.5', ({ account }) => account, '', { '_links.self.href': '/api/account', email: text }),
  ...fields('2.5 user', ({ account }) => account, '_embedded.users.0', {
    '_links.self.href': link(/\/users\/\d+/),
    '_links.account.href': '/api/account',
    id: integer,
    email: text,
    sign_in_count: integer,
    created_at: TIMESTAMP
  }),
  row(
    "2.5 `authentication_token` is the user's token",
    ({ account, service }) => pick(account.json, '_embedded.users.0.authentication_token') === service.token,
    true
  ),
  row(
    '2.5 `current_sign_in_at` and `last_sign_in_at`',
    ({ account }) =>
      ['current_sign_in_at', 'last_sign_in_at'].map(
        (key) => key in (pick(account.json, '_embedded.users.0') as object)
      ),
    [true, true]
  ),
  row(
    '2.5 a user is there at its own address',
    async ({ account, at }) =>
      (await at(String(pick(account.json, '_embedded.users.0._links.self.href')))).status,
    200
  ),
  ...fields('2.5 credential', ({ account }) => account, '_embedded.credentials.0', {
    id: integer,
    description: text
  }),
  row(
    '2.5 `provider` is `aws`',
    ({ account }) => pick(account.json, '_embedded.credentials.0.provider'),
    'local',
    'credentials'
  ),
  row(
    '2.5 a credential has an `arn` or an `access_key_id`',
    ({ account }) =>
      ['arn', 'access_key_id'].map((key) => pick(account.json, `_embedded.credentials.0.${key}`)),
    [text, null]
  ),

  row(
    '3 a grid is `queued` when it was just created',
    ({ gridMade }) => pick(gridMade.json, 'status'),
    'queued'
  ),
  row('3 then `started`', ({ gridStarted }) => pick(gridStarted.json, 'status'), 'started'),
  row('3 `stopped` after termination', ({ gridDeleted }) => pick(gridDeleted.json, 'status'), 'stopped'),
  row(
    '3 `invoiced`',
    async ({ gridMade, at }) => pick((await at(`/grids/${gridMade.json.uuid}`)).json, 'status'),
    'stopped',
    '`invoiced`'
  ),
  row('3 a run is `queued` after its creation', ({ made }) => pick(made.json, 'status'), 'queued'),
  row(
    '3 with its grids on demand `starting`',
    ({ made }) => made.json._embedded.grids.map(({ status }) => status),
    ['starting', 'starting']
  ),
  row('3 and `queued` after a repeat', ({ repeated }) => pick(repeated.json, 'status'), 'queued'),
  row('3 `finished` at its end', ({ run }) => pick(run.json, 'status'), 'finished'),
  row('3 `finished` after a stop', ({ stopped }) => pick(stopped.json, 'status'), 'finished'),
  row(
    '3 other states of a run are not shown',
    async ({ post, at }) => {
      const { uuid } = (await post('/runs', runForm({ override_parameters: '-Jrehearsal.problem=no plan' })))
        .json
      return waitForEnd(at, uuid)
    },
    'problem',
    'statuses of a run'
  ),
  row('3 a node is `running`', ({ gridStarted }) => pick(gridStarted.json, 'resources.0.state'), 'running'),
  row(
    '3 and `stopping` when its grid was terminated',
    ({ gridDeleted }) => pick(gridDeleted.json, 'resources.0.state'),
    'stopping'
  )
]
