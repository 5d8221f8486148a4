/** Where each command stands, by its first word: a command loads its own file and no other one. The order is that of the help. */
import type { Command } from './command.ts';

type CommandFile = {
  /** The first words of its commands. */
  readonly words: readonly string[];
  load(): Promise<readonly Command[]>;
};

const FILES: readonly CommandFile[] = [
  { words: ['serve', 'transmitir'], load: async () => (await import('./serve.ts')).SERVE_COMMANDS },
  { words: ['saude'], load: async () => [(await import('./saude.ts')).SAUDE] },
  { words: ['emitir'], load: async () => [(await import('./emitir.ts')).EMITIR] },
  { words: ['validar'], load: async () => [(await import('./validar.ts')).VALIDAR] },
  { words: ['migrar-dps'], load: async () => [(await import('./migrar-dps.ts')).MIGRAR_DPS] },
  { words: ['explicar'], load: async () => [(await import('./explicar.ts')).EXPLICAR] },
  { words: ['municipio'], load: async () => (await import('./municipio.ts')).MUNICIPIO_COMMANDS },
  { words: ['municipio'], load: async () => (await import('./mudanca.ts')).MUDANCA_COMMANDS },
  { words: ['usuario'], load: async () => (await import('./usuario.ts')).USUARIO_COMMANDS },
  { words: ['prestador'], load: async () => (await import('./prestador.ts')).PRESTADOR_COMMANDS },
  {
    words: ['servicos', 'beneficios', 'deducoes', 'regimes', 'nao-incidencias'],
    load: async () => (await import('./listas.ts')).LISTA_COMMANDS,
  },
  { words: ['aliquotas'], load: async () => (await import('./aliquotas.ts')).ALIQUOTAS_COMMANDS },
  { words: ['correlacao'], load: async () => (await import('./correlacao.ts')).CORRELACAO_COMMANDS },
  { words: ['nota'], load: async () => (await import('./nota-buscar.ts')).BUSCA_COMMANDS },
  { words: ['nota'], load: async () => (await import('./nota.ts')).NOTA_COMMANDS },
  { words: ['evidencia'], load: async () => [(await import('./evidencia.ts')).EVIDENCIA] },
  { words: ['evento'], load: async () => (await import('./evento.ts')).EVENTO_COMMANDS },
  { words: ['token'], load: async () => (await import('./token.ts')).TOKEN_COMMANDS },
  { words: ['webhook'], load: async () => (await import('./webhook.ts')).WEBHOOK_COMMANDS },
  { words: ['assinar'], load: async () => [(await import('./assinar.ts')).ASSINAR] },
  { words: ['assinatura'], load: async () => [(await import('./assinatura.ts')).ASSINATURA] },
  { words: ['pki'], load: async () => [(await import('./pki.ts')).PKI] },
  { words: ['adn-simulador'], load: async () => [(await import('./adn-simulador.ts')).ADN_SIMULADOR] },
  { words: ['arquivo'], load: async () => (await import('./arquivo.ts')).ARQUIVO_COMMANDS },
  { words: ['guarda'], load: async () => (await import('./guarda.ts')).GUARDA_COMMANDS },
  { words: ['titular'], load: async () => (await import('./titular.ts')).TITULAR_COMMANDS },
  { words: ['auditoria'], load: async () => (await import('./auditoria.ts')).AUDITORIA_COMMANDS },
  { words: ['copia'], load: async () => (await import('./copia.ts')).COPIA_COMMANDS },
  { words: ['banco'], load: async () => (await import('./banco.ts')).BANCO_COMMANDS },
  { words: ['migrar'], load: async () => [(await import('./serve.ts')).MIGRAR] },
  { words: ['banco'], load: async () => [(await import('./mudanca.ts')).BANCO_MUDAR] },
  { words: ['config'], load: async () => [(await import('./config.ts')).CONFIG] },
  { words: ['diagnostico'], load: async () => [(await import('./diagnostico.ts')).DIAGNOSTICO] },
];

/** The commands that begin with this word; none: there is no such word. */
export function loadCommands(word: string): Promise<readonly Command[]> {
  return loadFiles(FILES.filter(({ words }) => words.includes(word)));
}

export function loadAllCommands(): Promise<readonly Command[]> {
  return loadFiles(FILES);
}

async function loadFiles(files: readonly CommandFile[]): Promise<readonly Command[]> {
  return (await Promise.all(files.map((file) => file.load()))).flat();
}
