import { expect, test } from '@jest/globals'
import { FailedLogins, networkOf } from '../../../src/service/accounts/failed-logins.js'
import { ManualClock } from '../../support/manual-clock.js'

/** How long each of these failures in a row waits, on a clock that moves for nothing else. */
async function measure(count: number, logins: FailedLogins, clock: ManualClock): Promise<number[]> {
  const waits: number[] = []
  for (let i = 0; i < count; i++) {
    const startMs = clock.now()
    expect(await clock.run(logins.slowDown('192.0.2.1'))).toBe(true)
    waits.push(clock.now() - startMs)
  }
  return waits
}

test('each failure waits longer than the one before, up to five seconds', async () => {
  const clock = new ManualClock()
  expect(await measure(12, new FailedLogins(clock), clock)).toEqual([
    ...[0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]
  ])
})

test('an address that stays quiet starts anew, and others are not affected', async () => {
  const clock = new ManualClock()
  const logins = new FailedLogins(clock)
  await measure(10, logins, clock)
  const startMs = clock.now()
  await logins.slowDown('192.0.2.2')
  expect(clock.now()).toBe(startMs)
  await clock.advance(15 * 60_000)
  expect((await measure(4, logins, clock)).at(-1)).toBe(100)
})

test('only so many wait: the rest is turned away at once, and closing ends every wait', async () => {
  const clock = new ManualClock()
  const logins = new FailedLogins(clock)
  await measure(3, logins, clock)
  const all = Array.from({ length: 1000 }, () => logins.slowDown('192.0.2.1'))
  expect(clock.pendingCount).toBe(8)
  logins.close()
  expect((await Promise.all(all)).filter((isAnswered) => isAnswered)).toHaveLength(8)
  expect(clock.pendingCount).toBe(0)
})

test('a thousand addresses together have no more than two hundred waiting', async () => {
  const clock = new ManualClock()
  const logins = new FailedLogins(clock)
  const all = Array.from({ length: 5000 }, (_, i) => logins.slowDown(`198.51.${(i % 1000) >> 8}.${i % 250}`))
  expect(clock.pendingCount).toBe(200)
  logins.close()
  await Promise.all(all)
})

test('the memory is bounded, however many addresses there are', async () => {
  const logins = new FailedLogins(new ManualClock())
  for (let i = 0; i < 30_000; i++) await logins.slowDown(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  expect(logins.size).toBe(10_000)
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64']
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
