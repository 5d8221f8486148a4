import type { Interrompivel, Pedidos } from './pedidos.ts';
import type { Ambiente, Envios, Respostas } from './tipos.ts';
export type ClienteDoAmbiente = {
    /**
     * Faz um ambiente só seu; num cliente de `integracao`. Só esta resposta mostra a `chave` do dono. O resto da integração não muda: crie um
     * cliente com `municipio: ambiente.municipio`. Se uma resposta se perde, o cliente faz outro, e o perdido some sozinho.
     */
    criarAmbiente(dados?: Envios['criarAmbiente'], opcoes?: Interrompivel): Promise<{
        readonly ambiente: Ambiente;
        readonly chave: string;
    }>;
    consultarAmbiente(chave: string, opcoes?: Interrompivel): Promise<Ambiente>;
    /** Muda o relógio, que só avança, e o rigor. Tokens que vencem até a hora nova deixam de servir. */
    alterarAmbiente(chave: string, dados: Envios['alterarAmbiente'], opcoes?: Interrompivel): Promise<Ambiente>;
    /** Tira tudo o que há nele, e o relógio volta à hora de agora, ou à que se diz. */
    reiniciarAmbiente(chave: string, dados?: Envios['reiniciarAmbiente'], opcoes?: Interrompivel): Promise<Respostas['reiniciarAmbiente']['ambiente']>;
    descartarAmbiente(chave: string, opcoes?: Interrompivel): Promise<void>;
    /** Os prestadores prontos, e os cenários de cada um. */
    listarPersonas(chave: string, opcoes?: Interrompivel): Promise<Respostas['listarPersonas']['personas']>;
    /** A DPS de um cenário, em XML, pronta para `emitirNota`. */
    documentoDaPersona(chave: string, persona: string, cenario: string, opcoes?: Interrompivel): Promise<string>;
};
export declare function doAmbienteBy({ ler, pedir }: Pedidos): ClienteDoAmbiente;
