import { execFile } from 'node:child_process'

/** The commit that is checked out in a folder; empty where git does not know. */
export function readGitHead(folder: string): Promise<string> {
  return new Promise((done) => {
    execFile('git', ['rev-parse', 'HEAD'], { cwd: folder }, (_, out) => done(out.trim()))
  })
}
