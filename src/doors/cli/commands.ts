/** The file of each command, by its first word: a command loads its own file alone. The order is that of the help. */
import type { Command } from '../../base/terminal/command.ts';

type CommandFile = {
  /** The first words of its commands. */
  readonly words: readonly string[];
  load(): Promise<readonly Command[]>;
};

const FILES: readonly CommandFile[] = [
  { words: ['serve', 'transmitir'], load: async () => (await import('./serve.ts')).SERVE_COMMANDS },
  { words: ['saude'], load: async () => [(await import('../../subjects/vigia/saude.command.ts')).SAUDE] },
  { words: ['emitir'], load: async () => [(await import('../../subjects/notas/emitir.command.ts')).EMITIR] },
  { words: ['validar'], load: async () => [(await import('../../subjects/notas/validar.command.ts')).VALIDAR] },
  {
    words: ['migrar-dps'],
    load: async () => [(await import('../../subjects/notas/migrar-dps.command.ts')).MIGRAR_DPS],
  },
  { words: ['explicar'], load: async () => [(await import('../../subjects/notas/explicar.command.ts')).EXPLICAR] },
  {
    words: ['municipio'],
    load: async () => (await import('../../subjects/municipios/municipio.command.ts')).MUNICIPIO_COMMANDS,
  },
  {
    words: ['municipio'],
    load: async () => (await import('../../subjects/municipios/mudanca.command.ts')).MUDANCA_COMMANDS,
  },
  { words: ['usuario'], load: async () => (await import('../../subjects/contas/usuario.command.ts')).USUARIO_COMMANDS },
  {
    words: ['prestador'],
    load: async () => (await import('../../subjects/cadastros/prestador.command.ts')).PRESTADOR_COMMANDS,
  },
  {
    words: ['servicos', 'beneficios', 'deducoes', 'regimes', 'nao-incidencias'],
    load: async () => (await import('../../subjects/cadastros/listas.command.ts')).LISTA_COMMANDS,
  },
  {
    words: ['aliquotas'],
    load: async () => (await import('../../subjects/cadastros/aliquotas.command.ts')).ALIQUOTAS_COMMANDS,
  },
  {
    words: ['correlacao'],
    load: async () => (await import('../../subjects/cadastros/correlacao.command.ts')).CORRELACAO_COMMANDS,
  },
  { words: ['nota'], load: async () => (await import('../../subjects/notas/buscar.command.ts')).BUSCA_COMMANDS },
  { words: ['nota'], load: async () => (await import('../../subjects/notas/nota.command.ts')).NOTA_COMMANDS },
  {
    words: ['evidencia'],
    load: async () => [(await import('../../subjects/evidencia/evidencia.command.ts')).EVIDENCIA],
  },
  { words: ['evento'], load: async () => (await import('../../subjects/eventos/evento.command.ts')).EVENTO_COMMANDS },
  { words: ['token'], load: async () => (await import('../../subjects/partes/token.command.ts')).TOKEN_COMMANDS },
  { words: ['webhook'], load: async () => (await import('../../subjects/avisos/webhook.command.ts')).WEBHOOK_COMMANDS },
  { words: ['assinar'], load: async () => [(await import('../../subjects/assinatura/assinar.command.ts')).ASSINAR] },
  {
    words: ['assinatura'],
    load: async () => [(await import('../../subjects/assinatura/assinatura.command.ts')).ASSINATURA],
  },
  { words: ['pki'], load: async () => [(await import('../../subjects/municipios/pki.command.ts')).PKI] },
  { words: ['adn-simulador'], load: async () => [(await import('./adn-simulador.ts')).ADN_SIMULADOR] },
  { words: ['arquivo'], load: async () => (await import('../../subjects/guarda/arquivo.command.ts')).ARQUIVO_COMMANDS },
  { words: ['guarda'], load: async () => (await import('../../subjects/guarda/guarda.command.ts')).GUARDA_COMMANDS },
  { words: ['titular'], load: async () => (await import('../../subjects/partes/titular.command.ts')).TITULAR_COMMANDS },
  {
    words: ['auditoria'],
    load: async () => (await import('../../subjects/auditoria/auditoria.command.ts')).AUDITORIA_COMMANDS,
  },
  { words: ['copia'], load: async () => (await import('../../subjects/copias/copia.command.ts')).COPIA_COMMANDS },
  { words: ['banco'], load: async () => (await import('../../subjects/citus/banco.command.ts')).BANCO_COMMANDS },
  { words: ['migrar'], load: async () => [(await import('./serve.ts')).MIGRAR] },
  { words: ['banco'], load: async () => [(await import('../../subjects/municipios/mudanca.command.ts')).BANCO_MUDAR] },
  { words: ['config'], load: async () => [(await import('./config.ts')).CONFIG] },
  {
    words: ['diagnostico'],
    load: async () => [(await import('../../subjects/vigia/diagnostico.command.ts')).DIAGNOSTICO],
  },
];

/** The commands that begin with this word; the list is empty for an unknown word. */
export function loadCommands(word: string): Promise<readonly Command[]> {
  return loadFiles(FILES.filter(({ words }) => words.includes(word)));
}

export function loadAllCommands(): Promise<readonly Command[]> {
  return loadFiles(FILES);
}

async function loadFiles(files: readonly CommandFile[]): Promise<readonly Command[]> {
  return (await Promise.all(files.map((file) => file.load()))).flat();
}
