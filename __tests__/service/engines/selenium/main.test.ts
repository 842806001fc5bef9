import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ORDER_VARIABLE, type SeleniumOrder } from '../../../../src/service/programs/selenium-hub/order.js'
import { isAlive, until } from '../../../e2e/cli-command.js'
import { removeFolder } from '../../../support/remove-folder.js'

const HOOKS = pathToFileURL(resolve('__tests__/support/typescript-hooks.mjs')).href
const NODE_OPTIONS = ['--experimental-transform-types', '--no-warnings', '--import', HOOKS]

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-main-'))
  mkdirSync(join(folder, 'tmp'))
})
afterEach(() => removeFolder(folder))

/** Starts the node's process, with a shell script for Java. */
function start(...script: string[]): ReturnType<typeof spawn> {
  const java = join(folder, 'java')
  writeFileSync(java, ['#!/bin/sh', ...script, ''].join('\n'))
  chmodSync(java, 0o755)
  const order: SeleniumOrder = {
    ...{ word: 'word', browser: 'chrome', browserFile: '/opt/chrome', driverFile: '/opt/driver', java },
    ...{ javaArgs: [], classPath: [], planJar: folder, plan: ['main', 'Plan'], planDir: folder },
    ...{ samplesFile: join(folder, 'samples.csv'), logFile: join(folder, 'log'), nodeNumber: 1 },
    ...{ users: 1, rampupMs: 0, durationMs: null, hosts: [], variables: {} }
  }
  return spawn(process.execPath, [...NODE_OPTIONS, resolve('src/service/programs/selenium-hub/main.ts')], {
    env: { PATH: process.env.PATH, TMPDIR: join(folder, 'tmp'), [ORDER_VARIABLE]: JSON.stringify(order) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true
  })
}

test('a plan cannot print what the node tells, nor commands for a terminal', async () => {
  const child = start('printf "a\\rword facts: {}\\033[31m\\342\\200\\250::error::x\\n"')
  let text = ''
  child.stdout!.on('data', (chunk: Buffer) => (text += chunk.toString()))
  expect(await once(child, 'close')).toEqual([0, null])
  expect(text).toBe(
    'user 1: a\nuser 1: word facts: {} [31m ::error::x\nword facts: {"sessions":0,"stopped":[],"withoutBrowser":[1]}\n'
  )
  expect(readdirSync(join(folder, 'tmp'))).toEqual([])
})

test('an error that nobody expected leaves no process and no folder behind', async () => {
  const pidFile = join(folder, 'pid')
  const child = start(`echo $$ > ${pidFile}`, 'while :; do echo more; sleep 0.05; done')
  const closed = once(child, 'exit')
  await once(child.stdout!, 'data')
  child.stdout!.destroy()
  expect(await closed).toEqual([1, null])
  await until(() => !isAlive(Number(readFileSync(pidFile, 'utf8'))))
  expect(readdirSync(join(folder, 'tmp'))).toEqual([])
})
