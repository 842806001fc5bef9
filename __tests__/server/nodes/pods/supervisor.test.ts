import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { SUPERVISOR } from '../../../../src/server/nodes/pods/supervisor.js'

test('the script is the same after Kubernetes has replaced variables in it', () => {
  expect(SUPERVISOR).not.toContain('$$')
  expect(SUPERVISOR).not.toMatch(/\$\([A-Za-z_][\w.-]*\)/)
})

test.each(['sh', 'bash'])('it is a script for %s', (shell) => {
  expect(spawnSync(shell, ['-n', '-c', SUPERVISOR], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: ''
  })
})
