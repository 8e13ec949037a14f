import type { ApprovalRule } from '#models/tools/approval-rule.ts'
import { type HttpConfiguration, isImported } from './calling/http-configuration.ts'
import { originOf } from './configuration.ts'
import type { ImportedDocument, ImportedOperation } from './openapi/imported-document.ts'
import type { StoredTool } from './tools.repository.ts'

interface Circumstances {
  cluster: string
  /** The approval rule for new tools. */
  requiresApproval: ApprovalRule
  /** Names of the tools to import; defaults to all. */
  names?: readonly string[] | undefined
  at: string
  newId(): string
}

interface Merged {
  /** The tools in document order. */
  tools: StoredTool[]
  skipped: { operation: string; reason: string }[]
  warnings: { operation?: string; warning: string }[]
}

/**
 * Returns the tools that an import stores. A tool that was imported into the cluster before is updated, matched by its name,
 * and stays enabled or disabled as people left it; a tool that a person created by hand is never replaced.
 */
export function mergeImport(
  known: readonly StoredTool[],
  { operations }: Pick<ImportedDocument, 'operations'>,
  circumstances: Circumstances,
): Merged {
  const byName = new Map(known.map(tool => [tool.name, tool]))
  const merged: Merged = { tools: [], skipped: [], warnings: [] }
  const wanted = circumstances.names && new Set(circumstances.names)
  for (const operation of operations) {
    const former = byName.get(operation.name)
    byName.delete(operation.name)
    if (wanted?.has(operation.name) === false) continue
    if (former !== undefined && !wasImported(former)) merged.skipped.push(nameTaken(operation))
    else
      merged.tools.push(
        former ? updated(former, operation, circumstances) : created(operation, circumstances),
      )
  }
  const vanished = [...byName.values()].filter(wasImported)
  merged.warnings.push(
    ...vanished.map(({ name }) => ({
      operation: name,
      warning: 'It is not in the document any more. The tool was left as it is.',
    })),
  )
  return merged
}

function created(
  { name, description, isEnabled, configuration }: ImportedOperation,
  by: Circumstances,
): StoredTool {
  return {
    id: by.newId(),
    name,
    description,
    type: 'http',
    configuration,
    isEnabled,
    requiresApproval: by.requiresApproval,
    approvers: 'admins',
    cluster: by.cluster,
    secretSet: null,
    created_at: by.at,
    updated_at: by.at,
  }
}

function updated(
  former: StoredTool,
  { description, isEnabled, configuration }: ImportedOperation,
  { at }: Circumstances,
): StoredTool {
  // If there was no address to call, only the import can have disabled it.
  const isWanted = former.isEnabled || originOf(former.configuration as HttpConfiguration) === ''
  return { ...former, description, configuration, isEnabled: isEnabled && isWanted, updated_at: at }
}

function wasImported({ type, configuration }: StoredTool): boolean {
  return type === 'http' && isImported(configuration as HttpConfiguration)
}

function nameTaken({ name, configuration: { method, pathTemplate } }: ImportedOperation) {
  return {
    operation: `${method} ${pathTemplate}`,
    reason: `A tool named “${name}” that was not imported is in this cluster. Rename it, or choose another cluster.`,
  }
}
