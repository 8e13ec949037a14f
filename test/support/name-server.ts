/** A DNS server on loopback that knows some names, denies those below `nowhere.test`, and never answers for all others. */
import { createSocket, type RemoteInfo } from 'node:dgram'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

const types = { A: 1, AAAA: 28 }
const headerBytes = 12
const nameError = 3

/**
 * The one server of this process until the test has finished; gives the names that are asked for, each once. A name with
 * several addresses has one after the other, and then the last.
 */
export async function useNameServer(known: Record<string, string | string[]>): Promise<Set<string>> {
  const socket = createSocket('udp4')
  const asked = new Set<string>()
  socket.on('message', (query: Buffer, { address, port }: RemoteInfo) => {
    const { name, type, end } = questionOf(query)
    asked.add(name)
    const answer = (code: number, records: Buffer[]) =>
      socket.send(replyTo(query.subarray(0, end), code, records), port, address)
    const found = known[name]
    if (found !== undefined) answer(0, type === types.A ? [recordOf(nextOf(found))] : [])
    else if (name.endsWith('nowhere.test')) answer(nameError, [])
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${socket.address().port}`])
  onTestFinished(() => {
    dns.setServers(before)
    socket.close()
  })
  return asked
}

function nextOf(found: string | string[]): string {
  if (typeof found === 'string') return found
  return (found.length > 1 ? found.shift() : found[0]) ?? ''
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function replyTo(question: Buffer, code: number, records: Buffer[]): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

/** Of the name that the question begins with, for a minute. */
function recordOf(address: string): Buffer {
  const head = Buffer.from([0xc0, headerBytes, 0, types.A, 0, 1, 0, 0, 0, 60, 0, 4])
  return Buffer.concat([head, Buffer.from(address.split('.').map(Number))])
}
