import { expect, test } from '@jest/globals'
import { readPlanTree } from '../../../../src/analysis/plans/jmx/plan-tree.js'

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
