import { ifElse } from './if-else.ts'
import { loop } from './loop.ts'
import type { NodeType } from './node-type.ts'
import { switchNode } from './switch.ts'
import { trigger } from './trigger.ts'
import { wait } from './wait.ts'

export type NodeTypes = ReadonlyMap<string, NodeType>

export function createNodeTypes(): NodeTypes {
  const all: NodeType[] = [trigger, ifElse, switchNode, loop, wait]
  return new Map(all.map(node => [node.type, node]))
}
