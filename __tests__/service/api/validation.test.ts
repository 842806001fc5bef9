import { expect, test } from '@jest/globals'
import type { NodePlace } from '../../../src/service/nodes/load-node.js'
import { readGridSpec } from '../../../src/service/api/validation.js'

test('a grid has as many nodes as its region allows', () => {
  const read = (region: string, quantity: number): number =>
    readGridSpec(
      {
        grid: {
          ...{ region, instance_quantity: String(quantity), instance_type: 'small' },
          ...{ infrastructure: 'demand', stop_after: '5' }
        }
      },
      {
        regions: undefined,
        placeOf: (asked) => ({ mostNodes: asked === 'pods' ? 1000 : undefined }) as NodePlace,
        clearAway: () => Promise.resolve()
      }
    ).instanceQuantity
  expect([read('here', 64), read('pods', 1000)]).toEqual([64, 1000])
  expect(() => read('here', 65)).toThrow('instance_quantity must be a whole number from 1 to 64, not "65"')
  expect(() => read('pods', 1001)).toThrow('a whole number from 1 to 1000, not "1001"')
})
