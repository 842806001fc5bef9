import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askAboutPlan, reading } from '../../../src/service/plans/ask.js'
import { answer, type Asked, type Question } from '../../../src/service/plans/questions.js'
import { createServices, get, PLAN, postForm, runForm, specFields } from '../support.js'

const services = createServices()
afterAll(() => services.closeAll())

const asBefore = { ...reading }
beforeEach(() => {
  reading.url = new URL('../../../src/service/plans/plan-worker.ts', import.meta.url)
  reading.execArgv = [
    ...['--experimental-transform-types', '--no-warnings', '--import'],
    fileURLToPath(new URL('../../support/typescript-hooks.mjs', import.meta.url))
  ]
})
afterEach(() => {
  delete reading.execArgv
  Object.assign(reading, asBefore)
})

const INPUTS = {
  ...{ parameters: [], threads: 2, rampupSeconds: undefined, durationSeconds: 5 }
}
const SET_UP = PLAN.replace('<ThreadGroup', '<SetupThreadGroup testname="before"/><hashTree/><ThreadGroup')
const PART = `<jmeterTestPlan><hashTree><TestFragmentController testname="f"/></hashTree></jmeterTestPlan>`

function uploads(): string {
  const folder = services.folder()
  writeFileSync(join(folder, 'plan.jmx'), SET_UP.replace('</TestPlan>', '<x>data/users.csv</x></TestPlan>'))
  writeFileSync(join(folder, 'part.jmx'), PART)
  writeFileSync(join(folder, 'broken.jmx'), '<a><b></a>')
  writeFileSync(join(folder, 'users.csv'), 'a,b\n')
  writeFileSync(join(folder, 'user.properties'), 'users=3\n')
  writeFileSync(join(folder, 'Plan.java'), 'class Plan { { http("home").get("/"); } }')
  return folder
}

type Case = { [Q in Question]: [Q, Omit<Asked<Q>, 'folder'>] }[Question]
const others = ['part.jmx', 'broken.jmx', 'users.csv', 'user.properties']
const CASES: Case[] = [
  ['parts', { names: ['plan.jmx', 'part.jmx', 'broken.jmx'] }],
  ['asideGroups', { plan: 'plan.jmx', others, inputs: INPUTS }],
  ['unnamed', { names: ['plan.jmx', 'Plan.java', 'gone.jmx'], values: ['home', 'hidden'] }],
  ['labels', { names: ['plan.jmx'] }],
  ['labels', { names: ['Plan.java', 'users.csv'] }],
  ['jmeter', { plan: 'plan.jmx', others, inputs: INPUTS }],
  ['bypass', { names: ['broken.jmx'] }]
]

describe('a thread that reads a plan', () => {
  test.each(CASES)('answers what this one would: %s %j', async (question, asked) => {
    const given = { folder: uploads(), ...asked } as Asked<typeof question>
    const expected = answer(question, given)
    expect(await askAboutPlan(question, given)).toEqual(expected)
    expect(JSON.stringify(expected)).toMatch(/plan\.jmx|before|hidden|home|users\.csv|closed/)
  })

  test('says why it cannot, without paths of the machine', async () => {
    const asked = { folder: '/of/this/machine', names: ['plan.jmx'] }
    await expect(askAboutPlan('labels', asked)).rejects.toThrow('a file of it cannot be read (ENOENT)')
  })

  test('has limits for memory and size', async () => {
    const folder = services.folder()
    writeFileSync(
      join(folder, 'plan.jmx'),
      `<a><hashTree>${'<b testname="c"/><hashTree/>'.repeat(1_000_000)}`
    )
    reading.heapMb = 100
    // On a busy machine it may take long until that is used up.
    reading.limitMs = 100_000
    await expect(askAboutPlan('parts', { folder, names: ['plan.jmx'] })).rejects.toThrow(
      'reading it takes more than 100 MB of memory'
    )
    writeFileSync(join(folder, 'large.jmx'), Buffer.alloc(65 << 20, ' '))
    await expect(askAboutPlan('parts', { folder, names: ['plan.jmx', 'large.jmx'] })).rejects.toThrow(
      'it and the files next to it have more than 64 MB'
    )
  })

  test('takes its time, and nobody waits for it but whoever sent the plan', async () => {
    const service = await services.start()
    reading.url = new URL('./never-answers.mjs', import.meta.url)
    reading.limitMs = 3000
    const replies: string[] = []
    // More than there are threads.
    const created = Array.from({ length: 6 }, async () => {
      const reply = await postForm(service, '/runs', runForm())
      replies.push('created')
      return reply
    })
    for (const path of ['/account', '/runs', '/grids']) {
      expect((await get(service, path)).status).toBe(200)
      replies.push(path)
    }
    expect(replies).toEqual(['/account', '/runs', '/grids'])
    const refused = await Promise.all(created)
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 422))
    expect(refused[0]?.json.error).toBe(
      'plan.jmx cannot be used: reading it took longer than 3 s; remove what it does not need'
    )
    expect((await get(service, '/runs')).json.total).toBe(0)
  })
})

test('a plan of 4 MB with elements that are never closed is created as any other, and others are answered', async () => {
  const service = await services.start()
  const plan = `${SET_UP.slice(0, 200)}${'<a>'.repeat((4 << 20) / 3 - 100)}`
  const order: string[] = []
  const created = postForm(service, '/runs', runForm({}, specFields(), plan)).finally(() =>
    order.push('created')
  )
  let answered = 0
  do {
    expect((await get(service, '/account')).status).toBe(200)
    answered++
  } while (order.length === 0)
  expect((await created).status).toBe(201)
  expect(answered).toBeGreaterThan(1)
})
