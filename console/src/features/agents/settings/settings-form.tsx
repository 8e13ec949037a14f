import { useAgent } from '#console/shell/agent.tsx'
import { ChangesForm } from '#console/ui/changes-form.tsx'
import type { JsonSchema, Values } from '#console/ui/schema.ts'
import { agentsPath, changeSettings, type Settings } from '../requests.ts'

interface SettingsFormProps {
  answer: Settings
  properties: Readonly<Record<string, JsonSchema>>
  /** Values that are shown instead of the stored settings. */
  values?: Values
  /** Values that are sent with every change. */
  always?: Values
}

/** A form for some settings of the agent; read-only for people without the ability `change`. */
export function SettingsForm({ answer, properties, values, always }: SettingsFormProps) {
  const agent = useAgent()
  const change = changeSettings(agent.id)
  return (
    <ChangesForm
      schema={{ properties }}
      values={{ ...answer.settings, ...values }}
      requestOf={changes => change({ ...always, ...changes })}
      changes={[agent.api, agentsPath]}
      isReadOnly={!agent.may('change')}
    />
  )
}
