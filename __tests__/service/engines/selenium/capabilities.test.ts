import { describe, expect, test } from '@jest/globals'
import { adaptNewSession, wantsOther } from '../../../../src/service/programs/selenium-hub/hub.js'

const CHROME = { browser: 'chrome', browserFile: '/opt/chrome', hosts: [] } as const
const FIREFOX = { browser: 'firefox', browserFile: '/opt/firefox', hosts: [] } as const

type Adapted = Record<string, { args: string[]; binary: string; prefs: Record<string, unknown> } | undefined>

function adapt(body: unknown, choice: Parameters<typeof adaptNewSession>[1]): Adapted {
  const { capabilities } = adaptNewSession(body, choice) as { capabilities: { alwaysMatch: Adapted } }
  return capabilities.alwaysMatch
}

describe('new sessions', () => {
  test('a script without wishes gets a headless Chrome', () => {
    const adapted = adapt({ capabilities: { alwaysMatch: {} } }, CHROME)
    expect(adapted['goog:chromeOptions']).toMatchObject({ binary: '/opt/chrome' })
    expect(adapted['goog:chromeOptions']!.args).toEqual(
      expect.arrayContaining(['--headless=new', '--no-sandbox'])
    )
  })

  test('its own options are kept, apart from those that contradict the driver', () => {
    const options = {
      args: ['window-size=800,600', '--headless', '--remote-debugging-port=9222', '--lang=de'],
      binary: 'C:\\chrome.exe',
      detach: true,
      debuggerAddress: 'localhost:9222',
      prefs: { download: 1 }
    }
    const adapted = adapt({ capabilities: { firstMatch: [{ 'goog:chromeOptions': options }] } }, CHROME)
    const { args, ...others } = adapted['goog:chromeOptions']!
    expect(others).toEqual({ binary: '/opt/chrome', prefs: { download: 1 } })
    expect(args.slice(0, 2)).toEqual(['--window-size=800,600', '--lang=de'])
    expect(args.filter((arg) => /headless|debugging/.test(arg))).toEqual(['--headless=new'])
  })

  test.each([
    ...[
      '--renderer-cmd-prefix=/tmp/evil.sh',
      'utility-cmd-prefix=/tmp/evil.sh',
      '--gpu-launcher=/tmp/evil.sh'
    ],
    ...['---zygote-cmd-prefix=x', '-ppapi-plugin-launcher=x', '--browser-subprocess-path=x', '--nacl-gdb=x']
  ])('an argument that starts another program is left out: %s', (arg) => {
    const options = { args: [arg, '--load-extension=/plan/extension'] }
    const adapted = adapt({ capabilities: { alwaysMatch: { 'goog:chromeOptions': options } } }, CHROME)
    const { args } = adapted['goog:chromeOptions']!
    expect(args[0]).toBe('--load-extension=/plan/extension')
    expect(args.filter((each) => each.endsWith(arg.replace(/^-+/, '')))).toEqual([])
  })

  test('what only old or other clients know is left out', () => {
    const wanted = { platform: 'ANY', version: '', acceptInsecureCerts: true, 'se:cdpEnabled': true }
    const adapted = adapt({ capabilities: { alwaysMatch: wanted } }, CHROME)
    expect(adapted).toEqual({
      ...{ acceptInsecureCerts: true, browserName: 'chrome' },
      'goog:chromeOptions': expect.anything()
    })
  })

  test('a client that only knows desired capabilities is understood', () => {
    const desiredCapabilities = { browserName: 'chrome', chromeOptions: { args: ['--lang=de'] } }
    expect(adapt({ desiredCapabilities }, CHROME)['goog:chromeOptions']!.args[0]).toBe('--lang=de')
  })

  test('host names get their addresses, those of IPv6 in brackets', () => {
    const hosts = [
      { host: 'shop.example', address: '10.0.0.1' },
      { host: 'six.example', address: '::1' }
    ]
    const own = {
      capabilities: { alwaysMatch: { 'goog:chromeOptions': { args: ['--host-resolver-rules=MAP * x'] } } }
    }
    const { args } = adapt(own, { ...CHROME, hosts })['goog:chromeOptions']!
    expect(args.filter((arg) => arg.includes('resolver'))).toEqual([
      '--host-resolver-rules=MAP shop.example 10.0.0.1, MAP six.example [::1]'
    ])
  })

  test('Firefox is headless and makes no requests of its own; preferences of the script win', () => {
    const options = { args: ['--headless', '-private'], prefs: { 'app.update.enabled': true } }
    const adapted = adapt({ capabilities: { alwaysMatch: { 'moz:firefoxOptions': options } } }, FIREFOX)
    expect(adapted['moz:firefoxOptions']).toMatchObject({
      binary: '/opt/firefox',
      args: ['-private', '-headless'],
      prefs: { 'app.update.enabled': true, 'network.captive-portal-service.enabled': false }
    })
  })

  test.each([
    { body: undefined },
    { body: [] },
    { body: { capabilities: { firstMatch: 'x', alwaysMatch: null } } },
    { body: { capabilities: { alwaysMatch: { 'goog:chromeOptions': { args: 'x' } } } } }
  ])('$body is a script without wishes', ({ body }) => {
    expect(adapt(body, CHROME)).toEqual(adapt({}, CHROME))
  })
})

test.each([
  { wanted: 'firefox', browser: 'chrome', other: 'firefox' },
  { wanted: 'chrome', browser: 'chrome', other: undefined },
  { wanted: 'chromium', browser: 'chrome', other: undefined },
  { wanted: '', browser: 'firefox', other: undefined },
  { wanted: 'MicrosoftEdge', browser: 'firefox', other: 'MicrosoftEdge' }
] as const)('a script that asks for "$wanted" on $browser', ({ wanted, browser, other }) => {
  expect(wantsOther({ capabilities: { alwaysMatch: { browserName: wanted } } }, browser)).toBe(other)
})
