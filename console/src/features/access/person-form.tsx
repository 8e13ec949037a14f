import type { ApiRequest } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { Dialog } from '#console/ui/dialog.tsx'
import type { Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { roleField, text } from './text.ts'

interface PersonFormProps {
  title: string
  action: string
  hint?: string
  request(values: Values): ApiRequest
  onSubmit(values: Values): Promise<unknown>
  onClose(): void
}

/** A form for an address and a role. */
export function PersonForm({ title, action, hint, request, onSubmit, onClose }: PersonFormProps) {
  const t = useText(text)
  const email = { type: 'string', format: 'email', title: t.email, description: hint }
  return (
    <Dialog title={title} onClose={onClose}>
      <SchemaForm
        schema={{
          required: ['email', 'role'],
          properties: { email, role: roleField(t, ['viewer', 'chat', 'admin', 'owner']) },
        }}
        initial={{ role: 'viewer' }}
        submit={action}
        request={request}
        onCancel={onClose}
        onSubmit={async values => {
          await onSubmit(values)
          onClose()
        }}
      />
    </Dialog>
  )
}
