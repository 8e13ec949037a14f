import { useState } from 'react'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { SelectField } from '#console/ui/field.tsx'
import type { JsonSchema } from '#console/ui/schema.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { Status } from '#console/ui/status.tsx'
import type { Settings } from '../requests.ts'
import { SettingsForm } from './settings-form.tsx'
import { text, type Words } from './text.ts'

const keys = {
  openai: 'openai_api_key',
  anthropic: 'anthropic_api_key',
  google: 'google_api_key',
  'openai-compatible': 'openai_compatible_api_key',
  builtin: undefined,
} as const
type Provider = keyof typeof keys

/** The settings of the answering model: the provider, its model, and the key for it. */
export function Model({ answer }: { answer: Settings }) {
  const t = useText(text)
  const agent = useAgent()
  const { settings, credentials } = answer
  const [chosen, setChosen] = useState<Provider>()
  const inForce = settings.llm_provider as Provider
  const provider = chosen ?? inForce
  const isOther = provider !== inForce
  const key = keys[provider]
  const isSet = key !== undefined && credentials[key] === true
  return (
    <Section
      title={t.tabs.model}
      detail={key && <Status tone={isSet ? 'good' : 'plain'}>{isSet ? t.keyIsSet : t.noKey}</Status>}
      text={t.modelText}
    >
      {agent.may('change') ? (
        <SelectField
          label={t.fields.llm_provider}
          value={provider}
          onChange={value => setChosen(value as Provider)}
          choices={Object.entries(t.providers).map(([value, label]) => ({ value, label }))}
          hint={provider === 'builtin' ? t.builtinHint : undefined}
        />
      ) : (
        <Facts rows={[{ name: t.fields.llm_provider, value: t.providers[provider] ?? provider }]} />
      )}
      <SettingsForm
        key={provider}
        answer={answer}
        properties={propertiesOf(provider, isSet, t)}
        values={isOther ? { llm_model: undefined } : {}}
        always={{ llm_provider: provider, ...(isOther && { llm_model: null }) }}
      />
    </Section>
  )
}

function propertiesOf(provider: Provider, isSet: boolean, t: Words): Record<string, JsonSchema> {
  const key = keys[provider]
  if (key === undefined) return {}
  const isCompatible = provider === 'openai-compatible'
  const text = (name: keyof Words['fields']) => ({
    type: 'string',
    title: t.fields[name],
    description: t.hints[name],
  })
  return {
    [key]: {
      type: 'string',
      title: t.credentials[key],
      description: isSet ? t.keepKey : isCompatible ? t.compatibleKey : t.needsKey,
      writeOnly: true,
    },
    ...(isCompatible && {
      llm_base_url: { ...text('llm_base_url'), format: 'uri', examples: ['http://127.0.0.1:11434/v1'] },
    }),
    llm_model: { ...text('llm_model'), maxLength: 200 },
    llm_temperature: { ...text('llm_temperature'), type: 'number', minimum: 0, maximum: 2 },
    llm_context_window: {
      ...text('llm_context_window'),
      type: 'integer',
      minimum: 1024,
      maximum: 10_000_000,
    },
    llm_tools: {
      ...text('llm_tools'),
      enum: Object.keys(t.choices.tools),
      enumTitles: Object.values(t.choices.tools),
      default: 'auto',
    },
  }
}
