import { describe, expect, test } from '@jest/globals'
import { readPlan, readPlanTree } from '../../../../src/analysis/plans/jmx/plan-tree.js'

test('the tree of a plan has each element with those below it', () => {
  const plan = `<?xml version="1.0"?><!-- <A> --><jmeterTestPlan><hashTree>
    <A testname='x > "y"' enabled="false"><stringProp name="s">1 &lt; 2</stringProp><elementProp name="e" elementType="E"><intProp name="i">3</intProp><intProp name="i">4</intProp></elementProp><stringProp name="c"><![CDATA[</A>]]></stringProp></A>
    <hashTree><b.C testname="z"/><hashTree/></hashTree></hashTree></jmeterTestPlan>`
  const nothing = { properties: new Map(), parts: [], children: [] }
  expect(readPlanTree(plan)).toEqual([
    {
      kind: 'A',
      name: 'x > "y"',
      isEnabled: false,
      properties: new Map([
        ['s', '1 < 2'],
        ['i', '3'],
        ['c', '</A>']
      ]),
      parts: [{ type: 'E', properties: new Map([['i', '3']]) }],
      text: 'x > "y"\n1 < 2\n3\n4\n</A>',
      children: [{ kind: 'b.C', name: 'z', isEnabled: true, text: 'z', ...nothing }]
    }
  ])
})

describe('a plan is read as JMeter reads it', () => {
  const plan = (name: string): string =>
    `<jmeterTestPlan><hashTree><A testname="${name}"/><hashTree/></hashTree></jmeterTestPlan>`

  test.each([
    ['references to control characters', plan('a&#x1;&#x1F;&#0;&#011;&#31;b'), 'a\x01\x1f\0\x0b\x1fb'],
    ['other references', plan('&#x41;&#10;&#x9;&#32;'), 'A\n\t '],
    ['one in a comment', `<!-- &#x1; -->${plan('a')}`, 'a'],
    ['a document type', `<!DOCTYPE jmeterTestPlan>${plan('a')}`, 'a'],
    ['a document type with a subset', `<!DOCTYPE a [<!ENTITY e "v">]>${plan('a')}`, 'a'],
    ['attributes without a space', plan('a" enabled="true"guiclass="x'), 'a'],
    ['anything after it', `${plan('a')}<a>${'<a>'.repeat(300)}`, 'a']
  ])('%s', (_, text, name) => {
    expect(readPlan(text)).toMatchObject({ root: 'jmeterTestPlan', elements: [{ name }] })
    expect(readPlan(text)).not.toHaveProperty('unread')
  })

  test.each([
    // JMeter takes the first ">" for its end.
    ['a document type with a ">"', `<!DOCTYPE a ">">${plan('a')}`, 'its document type is unusual'],
    [
      'an entity of its document type',
      `<!DOCTYPE a [<!ENTITY e "v">]>${plan('&e;')}`,
      'line 1: &e; is unknown in XML'
    ],
    ['more levels than are read', '<a>'.repeat(201), 'its elements are nested more than 200 deep'],
    [
      'more control characters than are read',
      `<a>${'\x01'.repeat(100_001)}</a>`,
      'it has too many characters that XML does not allow'
    ]
  ])('unless it has %s', (_, text, unread) => {
    expect(readPlan(text)).toMatchObject({ elements: undefined, unread })
  })

  test('and no further than its limits, whatever its size', () => {
    const read = ['<a>', '<hashTree>', '<A/><hashTree>'].map((levels) => {
      const start = performance.now()
      readPlan(`<jmeterTestPlan><hashTree>${levels.repeat(600_000)}`)
      return performance.now() - start
    })
    expect(Math.max(...read)).toBeLessThan(500)
  })
})
