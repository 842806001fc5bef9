import { describe, expect, test } from '@jest/globals'
import { type Job, type Resource, WaitingLine } from '../../../src/service/queue/waiting-line.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { slice } from '../../support/slice.js'

const MACHINE: Resource = { most: 4, isExclusive: true, isPlace: true }
const CLUSTER: Resource = { most: 6, isExclusive: false, isPlace: true }
const ALL: Resource = { most: 8, isExclusive: false, isPlace: false }

function job(id: string, user: string, needs: readonly (readonly [Resource, number])[]): Job {
  return { id, user, needs: new Map(needs) }
}

const onMachine = (id: string, user: string): Job => job(id, user, [[MACHINE, 1]])

/** Random arrivals, ends and stops, checked after each step. */
class Model {
  readonly line = new WaitingLine()
  readonly waiting: Job[] = []
  readonly atWork: Job[] = []
  /** How many later jobs that compete went before each waiting one. */
  readonly overtaken = new Map<string, number>()
  mostOvertaken = 0
  private count = 0

  constructor(private readonly random: () => number) {}

  arrive(): void {
    const nodes = (most: number): number => 1 + Math.floor(this.random() * most)
    const onHere = nodes(4)
    const there = nodes(4)
    const kinds: (readonly [Resource, number])[][] = [
      [[MACHINE, onHere]],
      [[CLUSTER, there]],
      [
        [MACHINE, onHere],
        [CLUSTER, there]
      ],
      []
    ]
    const places = kinds[Math.floor(this.random() * kinds.length)]!
    const total = places.reduce((sum, [, amount]) => sum + amount, 0)
    const needs = total === 0 ? [] : [...places, [ALL, total] as const]
    const added = job(String(++this.count), `user ${Math.floor(this.random() * 3)}`, needs)
    this.waiting.push(added)
    this.line.join(added)
    this.admit()
  }

  leave(from: Job[]): void {
    const [gone] = from.splice(Math.floor(this.random() * from.length), 1)
    if (gone === undefined) return
    this.line.remove(gone.id)
    // Leaving twice is harmless.
    if (this.random() < 0.3) this.line.remove(gone.id)
    this.admit()
  }

  admit(): void {
    for (const admitted of this.line.admit()) {
      const place = this.waiting.indexOf(admitted)
      expect(place).toBeGreaterThanOrEqual(0)
      for (const older of this.waiting.slice(0, place)) {
        if (![...older.needs.keys()].some((resource) => admitted.needs.has(resource))) continue
        const times = (this.overtaken.get(older.id) ?? 0) + 1
        this.overtaken.set(older.id, times)
        this.mostOvertaken = Math.max(this.mostOvertaken, times)
      }
      this.waiting.splice(place, 1)
      this.atWork.push(admitted)
    }
    this.check()
  }

  private check(): void {
    for (const resource of [MACHINE, CLUSTER, ALL]) {
      const users = this.atWork.filter(({ needs }) => needs.has(resource))
      const used = users.reduce((sum, { needs }) => sum + needs.get(resource)!, 0)
      expect(used).toBeLessThanOrEqual(resource.most!)
      expect(this.line.useOf(resource)).toBe(used)
      expect(resource.isExclusive ? users.length : 1).toBeLessThanOrEqual(1)
    }
    expect(this.waiting.map(({ id }) => this.line.positionOf(id)).sort((a, b) => a! - b!)).toEqual(
      this.waiting.map((_, index) => index + 1)
    )
    expect(this.atWork.filter(({ id }) => this.line.positionOf(id) !== null)).toEqual([])
    expect(this.waiting.filter(({ needs }) => needs.size === 0)).toEqual([])
    expect(this.isIdle).toBe(false)
  }

  /** Somebody waits although nobody works. */
  private get isIdle(): boolean {
    return this.waiting.length > 0 && this.atWork.length === 0
  }
}

describe('whatever comes and goes', () => {
  test.each(Array.from({ length: slice(10, 500) }, (_, seed) => seed))(
    'seed %d: limits hold, positions are 1 to n, nobody waits for nothing, and everybody gets a turn',
    (seed) => {
      const random = makeRandom(seed)
      const model = new Model(random)
      for (let step = 0; step < 200; step++) {
        const dice = random()
        if (dice < 0.5 && model.waiting.length < 30) model.arrive()
        else model.leave(dice < 0.9 ? model.atWork : model.waiting)
      }
      // Only the turns of the other users pass.
      expect(model.mostOvertaken).toBeLessThan(100)
      while (model.atWork.length > 0) model.leave(model.atWork)
      expect(model.waiting).toEqual([])
    }
  )
})

describe('fairness', () => {
  test('users take turns, however many jobs one of them has', () => {
    const line = new WaitingLine()
    for (const id of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) line.join(onMachine(id, id[0]!))
    expect(line.order().map(({ id }) => id)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('whoever has had a turn goes behind those who have not', () => {
    const line = new WaitingLine()
    line.hold(onMachine('a0', 'a'))
    for (const id of ['a1', 'b1']) line.join(onMachine(id, id[0]!))
    expect(line.order().map(({ id }) => id)).toEqual(['b1', 'a1'])
  })

  test('so does whoever had one in an earlier line', () => {
    const line = new WaitingLine()
    line.recall(['a', 'c', 'a'])
    for (const id of ['a1', 'b1', 'c1']) line.join(onMachine(id, id[0]!))
    expect(line.order().map(({ id }) => id)).toEqual(['b1', 'c1', 'a1'])
  })

  test('the order that is shown is the order of the turns, if nobody else comes', () => {
    const line = new WaitingLine()
    for (const id of ['a0', 'a1', 'a2', 'b1', 'c1', 'b2']) {
      line.join(onMachine(id, id[0]!))
      line.admit()
    }
    const shown = line.order().map(({ id }) => id)
    expect(shown).toEqual(['b1', 'c1', 'a1', 'b2', 'a2'])
    const turns = ['a0']
    while (line.length > 0) {
      line.remove(turns.at(-1)!)
      turns.push(...line.admit().map(({ id }) => id))
    }
    expect(turns.slice(1)).toEqual(shown)
  })

  test('one with long work elsewhere is not passed by another who always has one more', () => {
    const line = new WaitingLine()
    for (const id of ['a-long-1', 'a-long-2']) line.hold(job(id, 'a', [[CLUSTER, 1]]))
    line.hold(onMachine('b0', 'b'))
    line.join(onMachine('a1', 'a'))
    const turns: string[] = []
    for (let round = 1; round <= 5; round++) {
      // The other user is always there with another one.
      line.join(onMachine(`b${round}`, 'b'))
      line.remove(round === 1 ? 'b0' : turns.at(-1)!)
      turns.push(...line.admit().map(({ id }) => id))
    }
    expect(turns.indexOf('a1')).toBe(0)
  })

  test('a large job is not passed by small ones behind it at the same place', () => {
    const line = new WaitingLine()
    const inCluster = (id: string, nodes: number): Job => job(id, id, [[CLUSTER, nodes]])
    line.hold(inCluster('first', 3))
    line.join(inCluster('large', 6))
    line.join(inCluster('small', 1))
    line.join(onMachine('elsewhere', 'd'))
    expect(line.admit().map(({ id }) => id)).toEqual(['elsewhere'])
    line.remove('first')
    expect(line.admit().map(({ id }) => id)).toEqual(['large'])
  })
})

test('with two thousand waiting, a step looks at each of them a few times, not at each pair', () => {
  const line = new WaitingLine()
  let looks = 0
  const watched = (id: string, user: string): Job => ({
    id,
    get user() {
      looks++
      return user
    },
    get needs() {
      looks++
      return new Map([[MACHINE, 1]])
    }
  })
  const count = 2000
  line.hold(onMachine('at work', 'z'))
  for (let index = 0; index < count; index++) line.join(watched(String(index), `user ${index % 40}`))
  const steps: (() => void)[] = [
    () => line.join(watched('another', 'user 1')),
    () => line.remove('7'),
    () => line.remove('at work')
  ]
  for (const step of steps) {
    looks = 0
    step()
    line.admit()
    for (let index = 100; index < 150; index++) line.positionOf(String(index))
    expect(looks).toBeLessThan(count * 100)
  }
  expect(line.length).toBe(count - 1)
})

test('whoever waits for a quota of their own holds up nobody at the same place, and goes in order when there is room', () => {
  const quota: Resource = { most: 2, isExclusive: false, isPlace: false, isQuota: true }
  const line = new WaitingLine()
  const ofShop = (id: string, nodes: number): Job =>
    job(id, 'shop', [
      [CLUSTER, nodes],
      [quota, nodes]
    ])
  line.hold(ofShop('s1', 2))
  line.hold(job('b1', 'bank', [[CLUSTER, 1]]))
  for (const one of [ofShop('s2', 2), ofShop('s3', 1), job('b2', 'bank', [[CLUSTER, 3]])]) line.join(one)
  expect(line.order().map(({ id }) => id)).toEqual(['s2', 'b2', 's3'])
  expect(line.admit().map(({ id }) => id)).toEqual(['b2'])
  expect(line.lackingOf('s2')).toEqual([CLUSTER, quota])
  line.remove('b2')
  expect(line.lackingOf('s2')).toEqual([quota])
  line.remove('s1')
  expect(line.admit().map(({ id }) => id)).toEqual(['s2'])
  line.remove('s2')
  expect(line.admit().map(({ id }) => id)).toEqual(['s3'])
})
