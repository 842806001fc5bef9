import { describe, expect, test } from '@jest/globals'
import { proxyFor } from '../../../../src/service/nodes/kubernetes/credentials.js'
import { unreachable } from '../../../../src/service/nodes/kubernetes/cluster.js'

const SERVER = 'https://api.load.example:6443'
const PROXY = 'http://proxy.example:3128'

describe('the proxy for a cluster', () => {
  test.each<[string, string, NodeJS.ProcessEnv, string | undefined]>([
    ['none without a variable', SERVER, {}, undefined],
    ['the one of HTTPS_PROXY', SERVER, { HTTPS_PROXY: PROXY }, PROXY],
    ['the one in small letters first', SERVER, { https_proxy: PROXY, HTTPS_PROXY: 'http://other' }, PROXY],
    ['none for an empty variable', SERVER, { HTTPS_PROXY: '' }, undefined],
    ['one without a scheme', SERVER, { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
    ['not the one of HTTP_PROXY', SERVER, { HTTP_PROXY: PROXY }, undefined],
    ['none for loopback', 'https://127.0.0.1:16443', { HTTPS_PROXY: PROXY }, undefined],
    ['none for localhost', 'https://localhost:6443', { HTTPS_PROXY: PROXY }, undefined],
    [
      'none for a host in NO_PROXY',
      SERVER,
      { HTTPS_PROXY: PROXY, NO_PROXY: 'a, api.load.example' },
      undefined
    ],
    [
      'none for a host and port',
      SERVER,
      { HTTPS_PROXY: PROXY, no_proxy: 'api.load.example:6443' },
      undefined
    ],
    ['one for another port', SERVER, { HTTPS_PROXY: PROXY, no_proxy: 'api.load.example:443' }, PROXY],
    ['none within a domain', SERVER, { HTTPS_PROXY: PROXY, NO_PROXY: '.example' }, undefined],
    ['none below a domain', SERVER, { HTTPS_PROXY: PROXY, NO_PROXY: 'load.example' }, undefined],
    ['one for a name that only ends alike', SERVER, { HTTPS_PROXY: PROXY, NO_PROXY: 'oad.example' }, PROXY],
    ['none for everything', SERVER, { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, undefined],
    ['none within a network', 'https://10.1.2.3', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, undefined],
    ['one outside of it', 'https://11.1.2.3', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, PROXY],
    [
      'one for a network that is none',
      'https://10.1.2.3',
      { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/99' },
      PROXY
    ]
  ])('is %s', (_, server, env, proxy) => {
    expect(proxyFor(server, env)).toBe(proxy)
  })
})

describe('a connection that fails', () => {
  const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code })

  test('for its certificate: says what to check', () => {
    const error = unreachable(SERVER, failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'))
    expect(error.message).toMatch(
      /^The certificate of .* is not trusted: self-signed certificate \(DEPTH_ZERO/
    )
  })

  test('to all addresses of a name: tells each of them', () => {
    const refused = ['::1', '127.0.0.1'].map((ip) => failure('ECONNREFUSED', `connect ECONNREFUSED ${ip}`))
    const error = unreachable(SERVER, new AggregateError(refused))
    expect(error.message).toContain(
      'reached: connect ECONNREFUSED ::1, connect ECONNREFUSED 127.0.0.1. Check'
    )
  })
})
