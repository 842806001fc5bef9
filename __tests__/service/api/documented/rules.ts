import { expect } from '@jest/globals'
import { gridForm, pick, row, type Row, type World } from './world.js'

const basic = (credentials: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(credentials).toString('base64')}`
})
const account =
  (headers: (world: World) => Record<string, string>) =>
  async (world: World): Promise<number> =>
    (await world.send('GET', '/account', { token: null, headers: headers(world) })).status
const accept =
  (type: string) =>
  (world: World): Promise<number> =>
    account(({ service }) => ({ ...basic(`${service.token}:`), accept: type }))(world)

/** Sections 5 to 9: authentication, errors, limits, versions. */
export const RULES: readonly Row[] = [
  row(
    '5.1 the token as the user name, with an empty password',
    account(({ service }) => basic(`${service.token}:`)),
    200
  ),
  row(
    '5.1 no token',
    account(() => ({})),
    401
  ),
  row(
    '5.1 a wrong token',
    account(() => basic('wrong:')),
    401
  ),
  row(
    '5.1 the token is the `authentication_token` of a user',
    account(({ account: { json } }) =>
      basic(`${String(pick(json, '_embedded.users.0.authentication_token'))}:`)
    ),
    200
  ),
  row(
    '5.2 OAuth 2 is supported',
    async ({ send }) => (await send('POST', '/oauth/token')).status,
    404,
    'OAuth 2'
  ),
  row(
    '5.3 a plain request is redirected to HTTPS',
    ({ account: { status }, service }) => [status, new URL(service.url).protocol],
    [200, 'http:'],
    'HTTPS'
  ),
  row('6 events are not shown', async ({ at }) => (await at('/webhooks')).status, 404),
  row('7.1 a request without HTTPS is redirected', ({ account: { status } }) => status, 200, 'HTTPS'),
  row(
    '7.2 a successful DELETE returns 204',
    ({ gridDeleted }) => gridDeleted.status,
    200,
    '204 for `DELETE`'
  ),
  row(
    '7.3 the body of errors is not shown: here it has `error`',
    async ({ at }) => (await at('/runs/none')).json,
    { error: expect.any(String) }
  ),
  row(
    '8 `grid[stop_after]` is at most 2880, also in a run',
    async ({ post }) => (await post('/grids', gridForm({ stop_after: '2881' }))).text,
    expect.stringContaining('2880')
  ),
  row('9.1 v2 is the default when no version is requested', ({ account: { status } }) => status, 200),
  row('9.1 with any other type', accept('*/*'), 200),
  row('9.2 a version is requested by the media type', accept('application/vnd.service.v2+json'), 200),
  row('9.2 another version is not there', accept('application/vnd.service.v1+json'), 406),
  row('9.3 replies are hypermedia JSON', ({ run }) => Object.keys(pick(run.json, '_links') as object), [
    'self'
  ])
]
