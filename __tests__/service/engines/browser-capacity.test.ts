import { describe, expect, test } from '@jest/globals'
import {
  type BrowserCrowd,
  describeCapacity,
  usersThatFit
} from '../../../src/service/engines/browser-capacity.js'

const GB = 1024 ** 3

describe('the browsers that a machine carries', () => {
  test.each<Omit<BrowserCrowd, 'users'> & { most: number; least: number }>([
    { browser: 'chromium-headless-shell', sharing: 'contexts', least: 22, most: 26 },
    { browser: 'chromium-headless-shell', sharing: 'browsers', least: 5, most: 7 },
    { browser: 'chromium', sharing: 'contexts', least: 11, most: 14 },
    { browser: 'chromium', sharing: 'browsers', least: 3, most: 5 },
    { browser: 'firefox', sharing: 'browsers', least: 3, most: 5 }
  ])('$browser, $sharing: $least to $most more users per GB', ({ least, most, ...crowd }) => {
    const perGB = (usersThatFit(crowd, 9 * GB) - usersThatFit(crowd, GB)) / 8
    expect(perGB).toBeGreaterThanOrEqual(least)
    expect(perGB).toBeLessThanOrEqual(most)
  })

  test('one user is always tried', () => {
    expect(usersThatFit({ browser: 'firefox', sharing: 'browsers' }, 0)).toBe(1)
  })

  test('the log says how many, and why', () => {
    const crowd = { users: 10, browser: 'chromium-headless-shell', sharing: 'contexts' } as const
    expect(describeCapacity(crowd, 2 * GB)).toEqual({
      line: 'this machine is likely to carry about 46 users (2.0 GB of memory available, about 40 MB per user with chromium-headless-shell on a simple page)'
    })
  })

  test('warns beyond that', () => {
    const crowd = { users: 4, browser: 'firefox', sharing: 'browsers' } as const
    expect(describeCapacity(crowd, GB)?.warning).toBe(
      '4 users are more than the 3 that this machine is likely to carry (1.0 GB of memory available, about 250 MB per user with firefox on a simple page); use fewer threads, or spread the load over more machines.'
    )
    expect(describeCapacity({ ...crowd, users: 3 }, GB)).not.toHaveProperty('warning')
  })
})
