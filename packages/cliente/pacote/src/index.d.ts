/** Cliente da API de NFS-e. Comece por `createCliente`; o README diz o resto. */
export type { Acompanhamento, Andamento } from './acompanhar.ts';
export { type Assinante, assinarCms, assinarXml } from './assinatura.ts';
export { type Aviso, type AvisoConferido, conferirAviso, type MotivoDoAviso } from './aviso.ts';
export { type Certificado, CertificadoRecusado, lerCertificado } from './certificado.ts';
export type { AvisoDeRepeticao, Insistencia } from './chamada.ts';
export * from './cliente.ts';
export { type Dps, tipoDoCorpo } from './corpo.ts';
export { AindaEmAndamento, ErroDaChamada, Indeterminado, NaoEntregue, Recusado, type Repeticao, SemResposta, } from './erros.ts';
export type { DaParte, PedidoDeToken, Seguimento, TokenNomeado } from './parte.ts';
export type { Assinada, Envio, Interrompivel, OpcoesDoCliente } from './pedidos.ts';
export type * from './tipos.ts';
export { XmlRecusado } from './xml.ts';
