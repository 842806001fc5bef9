import {
  createServices,
  type FormPart,
  get,
  PLAN,
  postForm,
  postJson,
  type Reply,
  send,
  specFields,
  waitForStatus
} from '../../support.js'

/** A statement of the API document: what is found in a reply, what it must be, and the difference of docs/api.md if it is another thing here. */
export interface Row {
  readonly says: string
  readonly found: (world: World) => unknown
  readonly is: unknown
  readonly differs?: string
}

export const row = (says: string, found: Row['found'], is: unknown, differs?: string): Row => ({
  ...{ says, found, is },
  ...(differs !== undefined && { differs })
})

/** The value at a path such as `_embedded.grids.0.uuid`. */
export function pick(document: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], document)
}

/** Every field of a document, one row each. */
export function fields(
  section: string,
  reply: (world: World) => Reply,
  within: string,
  expected: Readonly<Record<string, unknown>>
): Row[] {
  return Object.entries(expected).map(([name, is]) =>
    row(
      `${section} \`${name}\``,
      (world) => pick(reply(world).json, within === '' ? name : `${within}.${name}`),
      is
    )
  )
}

export const GRID: Readonly<Record<string, string>> = {
  ...{ region: 'us-east-1', instance_quantity: '2', stop_after: '10' },
  ...{ infrastructure: 'demand', instance_type: 'm5.large' }
}
export const gridForm = (changes: Record<string, string | undefined> = {}): FormPart[] =>
  Object.entries({ ...GRID, ...changes }).flatMap(([key, value]): FormPart[] =>
    value === undefined ? [] : [[`grid[${key}]`, value]]
  )

const RUN_FIELDS: Readonly<Record<string, string>> = {
  ...{
    tool: 'jmeter',
    name: 'Nightly',
    notes: 'after the release',
    project: 'Shop',
    tag_list: 'nightly, shop'
  },
  ...{ privacy_flag: 'public', threads: '4', rampup: '1', duration: '5' },
  ...{ override_hosts: 'shop.example/127.0.0.1', override_parameters: '-Jpages=3' }
}
export function runForm(
  changes: Record<string, string | undefined> = {},
  grids: readonly FormPart[] = specFields(),
  files: readonly string[] = ['plan.jmx']
): FormPart[] {
  return [
    ...Object.entries({ ...RUN_FIELDS, ...changes }).flatMap(([key, value]): FormPart[] =>
      value === undefined ? [] : [[`run[${key}]`, value]]
    ),
    ...grids,
    ...files.map((fileName) => ({
      name: 'run_files[]',
      fileName,
      content: fileName.endsWith('.jmx') ? PLAN : 'a,b\n'
    }))
  ]
}

/** The path and query of a link. */
export function pathOf(href: unknown): string {
  const { pathname, search } = new URL(String(href), 'http://127.0.0.1')
  return pathname + search
}

/** The status that a run ends with. */
export async function waitForEnd(at: World['at'], id: string): Promise<string> {
  for (;;) {
    const { status } = (await at(`/runs/${id}`)).json
    if (!['queued', 'running', 'stopping'].includes(status)) return status
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>

/** A service, with the replies of one life of a grid and of some runs. */
export async function createWorld() {
  const services = createServices()
  const service = await services.start()
  const at = (path: string): Promise<Reply> => get(service, path)
  const post = (path: string, parts: readonly FormPart[]): Promise<Reply> => postForm(service, path, parts)

  const gridMade = await post('/grids', gridForm())
  const gridStarted = await waitForStatus(service, `/grids/${gridMade.json.uuid}`, ['started'])

  const twoGrids = [...specFields(), ...specFields({ infrastructure: 'hosted', region: 'eu-west-1' })]
  const made = await post('/runs', runForm({}, twoGrids, ['plan.jmx', 'users.csv']))
  const run = await waitForStatus(service, `/runs/${made.json.uuid}`, ['finished', 'problem'])
  const onGrid = await post('/runs', runForm({}, [['run[grids][][uuid]', gridMade.json.uuid]]))
  await waitForStatus(service, `/runs/${onGrid.json.uuid}`, ['finished', 'problem'])

  const endless = { duration: '600', override_parameters: '-Jrehearsal.realtime=true' }
  const long = await post('/runs', runForm(endless))
  await waitForStatus(service, `/runs/${long.json.uuid}`, ['running'])
  const stopped = await at(`/runs/${long.json.uuid}/stop`)
  const repeated = await at(`/runs/${made.json.uuid}/repeat`)
  await waitForStatus(service, `/runs/${repeated.json.uuid}`, ['finished', 'problem'])
  // More than one page.
  for (let count = 0; count < 50; count++) await post('/runs', runForm({ duration: '1' }))
  return {
    ...{ service, at, post, gridMade, gridStarted, made, run, onGrid, stopped, repeated },
    json: (path: string, body: unknown): Promise<Reply> => postJson(service, path, body),
    send: (method: string, path: string, call?: Parameters<typeof send>[3]): Promise<Reply> =>
      send(service, method, path, call),
    list: await at('/runs'),
    report: await at(`/runs/${made.json.uuid}/report`),
    account: await at('/account'),
    gridDeleted: await send(service, 'DELETE', `/grids/${gridMade.json.uuid}`),
    close: () => services.closeAll()
  }
}
