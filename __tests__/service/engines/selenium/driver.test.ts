import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDriver } from '../../../../src/service/programs/selenium-hub/driver.js'
import { isAlive, until } from '../../../e2e/cli-command.js'
import { removeFolder } from '../../../support/remove-folder.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-driver-'))
})
afterEach(() => removeFolder(folder))

function write(...lines: string[]): { browser: 'chrome'; file: string; tempDir: string } {
  const file = join(folder, 'driver')
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(file, 0o755)
  return { browser: 'chrome', file, tempDir: folder }
}

test('the port is the one that it tells, and its home folder goes with it', async () => {
  const driver = await startDriver(
    write(
      'echo "Starting on port 0"',
      'echo "ChromeDriver was started successfully on port 4711."',
      'exec sleep 60'
    )
  )
  expect(driver.port).toBe(4711)
  expect(driver.lastWords()).toBeUndefined()
  expect(readdirSync(folder).filter((name) => name.startsWith('home-'))).toHaveLength(1)
  driver.stop()
  expect(readdirSync(folder).filter((name) => name.startsWith('home-'))).toEqual([])
})

test('a browser whose start script and driver are gone is ended', async () => {
  const pidFile = join(folder, 'pid')
  const driver = await startDriver(
    write(
      `sh -c 'sleep 60 & echo $! > ${pidFile}; wait' &`,
      `until [ -s ${pidFile} ]; do sleep 0.01; done`,
      'echo "started successfully on port 1"',
      'trap "kill -9 $!; exit 0" USR1',
      `while [ ! -e ${folder}/quit ]; do sleep 0.01; done`,
      'kill -9 $!'
    )
  )
  driver.noteBrowser()
  const browser = Number(readFileSync(pidFile, 'utf8'))
  writeFileSync(join(folder, 'quit'), '')
  await until(() => driver.lastWords() !== undefined)
  expect(isAlive(browser)).toBe(true)
  driver.stop()
  await until(() => !isAlive(browser))
})

test.each([
  {
    what: 'exits',
    lines: ['echo "no such option"', 'exit 3'],
    says: /did not start, exit code 3: no such option/
  },
  { what: 'is killed', lines: ['kill -9 $$'], says: /did not start, killed by SIGKILL/ }
])('a driver that $what is told', async ({ lines, says }) => {
  await expect(startDriver(write(...lines))).rejects.toThrow(says)
  expect(readdirSync(folder)).toEqual(['driver'])
})

test('a driver that got a port that is taken is started again', async () => {
  const driver = await startDriver(
    write(
      `echo x >> ${folder}/starts`,
      `[ "$(wc -l < ${folder}/starts)" -lt 3 ] && echo "IPv4 port not available. Exiting..." && exit 1`,
      'echo "started successfully on port 4711."',
      'exec sleep 60'
    )
  )
  expect(driver.port).toBe(4711)
  driver.stop()
})

test('it is not started for ever', async () => {
  const lines = [`echo x >> ${folder}/starts`, 'echo "bind() failed: Address already in use" >&2', 'exit 1']
  await expect(startDriver(write(...lines))).rejects.toThrow(/did not start, exit code 1: bind\(\) failed/)
  expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('x\nx\nx\n')
})

test('a driver that is not there is told', async () => {
  const file = join(folder, 'nothing')
  expect(existsSync(file)).toBe(false)
  await expect(startDriver({ browser: 'firefox', file, tempDir: folder })).rejects.toThrow(
    /cannot be started/
  )
})
