import { expect, test } from '@jest/globals'
import { foreignParagraphs } from '../../../src/report/markdown/markdown.js'
import { renderComment } from '../../../src/report/markdown/comment.js'
import { renderSummary } from '../../../src/report/markdown/summary.js'
import { makeOutcome } from '../../support/data/make-outcome.js'

const MANIFEST = 'kind: Role\nrules:\n  - verbs: ["create"]\n\nkind: RoleBinding'
const REASON = `May not create jobs. This grants it (kubectl apply -f -):\n\n${MANIFEST}\n`

test('a manifest in a reason can be copied from the summary', () => {
  const summary = renderSummary(makeOutcome({ verdict: 'error', reason: REASON }), {
    ...{ artifactUrl: undefined, artifactProblem: undefined }
  })
  expect(summary).toContain(
    '(kubectl apply -f -):\n\n<pre>\nkind: Role\nrules:\n  - verbs: [&#34;create&#34;]\n\nkind: RoleBinding\n</pre>\n'
  )
})

test('a comment has the first paragraph', () => {
  const comment = renderComment(
    makeOutcome({ verdict: 'error', reason: REASON }),
    { artifactUrl: undefined, artifactProblem: undefined, workflowUrl: undefined },
    { key: 'k', title: '', commit: 'abc', repositoryUrl: undefined, previous: undefined }
  )
  expect(comment).toContain('This grants it (kubectl apply -f -):')
  expect(comment).not.toContain('RoleBinding')
})

test('a single paragraph is a line, with its breaks as spaces', () => {
  expect(foreignParagraphs('one\ntwo <b>')).toBe('one two &#60;b&#62;')
})

test('markup in any paragraph is harmless', () => {
  const text = foreignParagraphs('<i>\n\n</pre><script>alert(1)</script>\u001b[2J\n\n# heading')
  expect(text).toBe(
    '&#60;i&#62;\n\n<pre>\n&#60;/pre&#62;&#60;script&#62;alert(1)&#60;/script&#62; [2J\n\n# heading\n</pre>'
  )
})
