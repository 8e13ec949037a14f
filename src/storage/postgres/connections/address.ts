/** An agent's database as one string for worker threads: the server's address and the schema. */
const schemaParameter = 'agentstead_schema'

export function agentAddress(url: string, schema: string): string {
  const address = new URL(url)
  address.searchParams.set(schemaParameter, schema)
  return address.href
}

export function isAgentAddress(path: string): boolean {
  return /^postgres(ql)?:/.test(path)
}

export function parseAgentAddress(text: string): { url: string; schema: string } {
  const address = new URL(text)
  const schema = address.searchParams.get(schemaParameter)
  if (schema === null) throw new Error('the address of an agent names no schema')
  address.searchParams.delete(schemaParameter)
  return { url: address.href, schema }
}
