import { expect, test } from '@jest/globals'
import { callFunction, countArrivals } from '../../../../src/analysis/plans/jmx/open-model.js'

/** Each was counted with JMeter 5.6.3. */
test.each([
  ['rate(20/s) random_arrivals(3 s)', 60],
  ['rate(1200/min) random_arrivals(3 s)', 60],
  ['rate(2.5/s) random_arrivals(3 s)', 7],
  ['rate(0/s) random_arrivals(2 s) rate(20/s) random_arrivals(8 s)', 180],
  ['rate(0/s) random_arrivals(0 s) rate(20/s) random_arrivals(3 s)', 60],
  ['rate(0/s) random_arrivals(3 s) rate(20/s) random_arrivals(0 s)', 30],
  ['rate(10/s) random_arrivals(2 s) pause(1 s) rate(30/s) random_arrivals(1 s)', 50],
  ['rate(10/s) random_arrivals(1 s) rate(20/s) rate(40/s) even_arrivals(1 s)', 55],
  ['/* a */ rate(10/s) // b\n even_arrivals(1 s) random_arrivals(1 s)', 20],
  ['rate(20/s) random_arrivals(3 s) pause(30 s)', 60],
  ['random_arrivals(2 s)', 0],
  ['rate(0/s) random_arrivals(4 s) rate(20/s) random_arrivals(-1 s)', 0]
])('%j has %i arrivals', (schedule, arrivals) => {
  expect(countArrivals(schedule)).toBe(arrivals)
})

test.each(['', 'rate(1/s) random_arrivals(1 h)', 'RATE(1/s) Random_Arrivals(1 min)', 'rate(1/s)'])(
  '%j can be read',
  (schedule) => {
    expect(countArrivals(schedule)).toBeDefined()
  }
)

test.each([
  'rate(${users}/s) random_arrivals(60 s)',
  'rate(1) random_arrivals(1)',
  'sleep(3 s)',
  'rate(1/y)'
])('%j is not judged', (schedule) => {
  expect(countArrivals(schedule)).toBeUndefined()
})

test.each([
  ['__P(rate,20)', { rate: '5' }, '5'],
  ['__P(rate,20)', {}, '20'],
  ['__intSum(60,-6)', {}, '54'],
  ['__property(rate,,7)', {}, '7'],
  ['__groovy(1+1)', {}, undefined],
  ['users', {}, undefined]
])('%j with %j is %j', (call, properties: Record<string, string>, value) => {
  expect(callFunction(call, (name, fallback) => properties[name] ?? fallback)).toBe(value)
})
