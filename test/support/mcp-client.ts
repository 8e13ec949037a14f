/** The official client of the Model Context Protocol, connected to an agent of the service. */
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'

export interface McpConnection {
  /** The address that `listen` gave. */
  address: string
  agentId?: string
  headers?: Record<string, string>
  /** Speaks the older form of the protocol, with a handshake. */
  isOld?: boolean
}

/** Closed when the test has finished. */
export async function connectMcp({
  address,
  agentId = 'default',
  headers = {},
  isOld = false,
}: McpConnection) {
  const client = new Client(
    { name: 'tests', version: '1' },
    isOld ? {} : { versionNegotiation: { mode: 'auto' } },
  )
  const url = new URL(`${address}/api/agents/${agentId}/mcp/endpoint`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

/** What a person would read of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
}
