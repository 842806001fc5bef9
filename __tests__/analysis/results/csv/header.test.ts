import { describe, expect, test } from '@jest/globals'
import { cutHeader, readHeader } from '../../../../src/analysis/results/csv/header.js'

const encode = (text: string) => new TextEncoder().encode(text)

describe('the line', () => {
  test.each([
    ['a line break', 'a,b\n1,2\n', false, 'a,b', 4],
    ['CRLF', 'a,b\r\n1,2\r\n', false, 'a,b', 5],
    ['a byte-order mark', '\uFEFFa,b\n', false, 'a,b', 7],
    ['the end of the file', 'a,b', true, 'a,b', 3],
    ['nothing at all', '', true, '', 0]
  ])('ends with %s', (_, text, isAll, line, length) => {
    const cut = cutHeader(encode(text), isAll)
    expect([new TextDecoder().decode(cut?.line), cut?.length]).toEqual([line, length])
  })

  test('is waited for', () => {
    expect(cutHeader(encode('timeStamp,ela'), false)).toBeUndefined()
  })
})

describe('the shape', () => {
  test.each([
    ['samples', 'timeStamp,elapsed,label,success', ','],
    ['samples', 'SUCCESS; Label ;Elapsed', ';'],
    ['samples', '"timeStamp"\t"elapsed"', '\t'],
    ['samples', 'elapsed|label', '|'],
    ['tidy', 'Time,Measurement,Label,Account,Run,Project,Grid,Region,Value', ','],
    ['tidy', 'Value,Measurement,Time', ',']
  ])('is %s: %j', (shape, line, delimiter) => {
    expect(readHeader(encode(line))).toMatchObject({ shape, delimiter: delimiter.charCodeAt(0) })
  })

  test.each([
    '',
    'label,success',
    'elapsed',
    'Time,Value',
    '<!DOCTYPE html>',
    '{"error":"no"}',
    '"timeStamp,elapsed'
  ])('is unknown: %j', (line) => {
    expect(readHeader(encode(line))).toEqual({ shape: 'unknown' })
  })

  test('says where each column lies, and which are not there', () => {
    expect(readHeader(encode('label,IdleTime,elapsed,allThreads'))).toEqual({
      ...{ shape: 'samples', delimiter: 44, columns: 4 },
      at: {
        ...{ timeStamp: -1, elapsed: 2, label: 0, responseCode: -1, responseMessage: -1, threadName: -1 },
        ...{ dataType: -1, success: -1, failureMessage: -1, allThreads: 3, url: -1, idleTime: 1 },
        ...{ sampleCount: -1, hostname: -1, latency: -1, partOf: -1 },
        ...{ bytes: -1, sentBytes: -1, grpThreads: -1, connect: -1 }
      }
    })
  })
})
