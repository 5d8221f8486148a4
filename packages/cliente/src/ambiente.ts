/** A personal sandbox: the shared sandbox creates it, and the holder of its key keeps it. */
import { corpoJson } from './corpo.ts';
import type { Interrompivel, Pedidos } from './pedidos.ts';
import type { Ambiente, Envios, Respostas } from './tipos.ts';

export type ClienteDoAmbiente = {
  /**
   * Faz um ambiente só seu; num cliente de `integracao`. Só esta resposta mostra a `chave` do dono. O resto da integração não muda: crie um
   * cliente com `municipio: ambiente.municipio`. Se uma resposta se perde, o cliente faz outro, e o perdido some sozinho.
   */
  criarAmbiente(
    dados?: Envios['criarAmbiente'],
    opcoes?: Interrompivel,
  ): Promise<{ readonly ambiente: Ambiente; readonly chave: string }>;
  consultarAmbiente(chave: string, opcoes?: Interrompivel): Promise<Ambiente>;
  /** Muda o relógio, que só avança, e o rigor. Tokens que vencem até a hora nova deixam de servir. */
  alterarAmbiente(chave: string, dados: Envios['alterarAmbiente'], opcoes?: Interrompivel): Promise<Ambiente>;
  /** Tira tudo o que há nele, e o relógio volta à hora de agora, ou à que se diz. */
  reiniciarAmbiente(
    chave: string,
    dados?: Envios['reiniciarAmbiente'],
    opcoes?: Interrompivel,
  ): Promise<Respostas['reiniciarAmbiente']['ambiente']>;
  descartarAmbiente(chave: string, opcoes?: Interrompivel): Promise<void>;
  /** Os prestadores prontos, e os cenários de cada um. */
  listarPersonas(chave: string, opcoes?: Interrompivel): Promise<Respostas['listarPersonas']['personas']>;
  /** A DPS de um cenário, em XML, pronta para `emitirNota`. */
  documentoDaPersona(chave: string, persona: string, cenario: string, opcoes?: Interrompivel): Promise<string>;
};

export function doAmbienteBy({ ler, pedir }: Pedidos): ClienteDoAmbiente {
  return {
    criarAmbiente: async (dados = {}, own) => {
      const { ambiente, chave } = await ler('criarAmbiente', { corpo: corpoJson(dados), exige: 'chave', ...own });
      return { ambiente, chave };
    },
    consultarAmbiente: async (token, own) => (await ler('consultarAmbiente', { token, ...own })).ambiente,
    alterarAmbiente: async (token, dados, own) =>
      (await ler('alterarAmbiente', { token, corpo: corpoJson(dados), ...own })).ambiente,
    reiniciarAmbiente: async (token, dados = {}, own) =>
      (await ler('reiniciarAmbiente', { token, corpo: corpoJson(dados), ...own })).ambiente,
    descartarAmbiente: async (token, own) => void (await ler('descartarAmbiente', { token, ...own })),
    listarPersonas: async (token, own) => (await ler('listarPersonas', { token, ...own })).personas,
    documentoDaPersona: async (token, persona, cenario, own) => {
      const asked = { token, params: { persona, cenario }, gives: 'application/xml', ...own };
      return new TextDecoder().decode((await pedir('documentoDaPersona', asked)).corpo);
    },
  };
}
