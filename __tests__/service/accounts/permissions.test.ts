import { expect, test } from '@jest/globals'
import { checkPermission } from '../../../src/service/accounts/permissions.js'
import type { RunRecord, UserReference } from '../../../src/contract/records.js'

const stopAs = (id: number, owner: UserReference | undefined): void =>
  checkPermission(
    { id, name: 'leaked', role: 'member' },
    { effect: 'run.stop', id: 'a' },
    {
      seen: { run: () => ({ id: 'a', ...(owner && { user: owner }) }) as RunRecord, grid: () => undefined },
      accounts: { isRemoved: (user) => user === 1 }
    }
  )

test.each([
  [
    { id: 1, name: 'Leaked' },
    /^run a belongs to an earlier user Leaked, who was removed; only an admin may do this$/
  ],
  [{ id: 3, name: 'ann' }, /^run a belongs to ann; only ann or an admin may do this$/],
  [undefined, /^run a belongs to nobody; only an admin may do this$/]
])('who is refused is told whose it is: %j', (owner, words) => {
  expect(() => stopAs(2, owner)).toThrow(words)
})

test('an owner is not refused', () => {
  expect(() => stopAs(2, { id: 2, name: 'leaked' })).not.toThrow()
})
