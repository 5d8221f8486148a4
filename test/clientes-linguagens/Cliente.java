import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** An integrator's program with the Java client: the argument selects the part, and each step prints a line. */
public final class Cliente {
    public static void main(String[] args) throws Exception {
        String[] resto = Arrays.copyOfRange(args, 1, args.length);
        if (args[0].equals("historia")) historia(resto);
        else if (args[0].equals("emitir")) emitir(resto);
        else if (args[0].equals("espera")) espera(resto);
        else if (args[0].equals("token")) token(resto);
        else assinar(resto);
    }

    private static void diz(Object... valores) {
        System.out.println(Arrays.stream(valores).map(um -> um == null ? "-" : um.toString()).collect(Collectors.joining(" ")));
    }

    private static byte[] bytes(String arquivo) throws Exception {
        return Files.readAllBytes(Path.of(arquivo));
    }

    private static void historia(String[] a) throws Exception {
        var certificado = new EmissorNfse.Certificado(bytes(a[2]), a[3]);
        var opcoes = new EmissorNfse.Opcoes().autoridades(Files.readString(Path.of(a[4])));
        var cliente = new EmissorNfse(a[0], a[1], certificado, opcoes);
        var prazo = Duration.ofMinutes(5);
        var deXml = cliente.emitirNota(bytes(a[5]), new EmissorNfse.Envio().chave(a[8]));
        diz("xml", deXml.chave_acesso, deXml.repetida, deXml.xml_nfse.startsWith("<"));
        var outra = cliente.emitirNota(bytes(a[5]), new EmissorNfse.Envio().chave(a[8]));
        diz("repetida", outra.chave_acesso, outra.repetida);
        var conhecida = cliente.emitirNota(bytes(a[5]));
        diz("conhecida", conhecida.chave_acesso, conhecida.repetida, conhecida.xml_nfse);
        var deJson = cliente.emitirNota(bytes(a[6]));
        diz("json", deJson.chave_acesso, deJson.repetida);
        try {
            cliente.emitirNota(bytes(a[7]));
        } catch (EmissorNfse.ErroDoEmissor erro) {
            diz("recusa", erro.getClass().getSimpleName(), erro.codigo_erro, erro.status, erro.campo, erro.erros.size(),
                erro.requisicao != null, erro.mensagem.equals(erro.erros.get(0).mensagem), erro.detalhes != null);
        }
        var nota = cliente.acompanharNota(deJson.chave_acesso, prazo).nota;
        diz("nota", nota.status, nota.valor_issqn, nota.data_cancelamento);
        diz("protocolo", cliente.consultarNotaPorProtocolo(deJson.numero_protocolo).nota.chave_acesso);
        var id = EmissorNfse.identificadorDaDps("3550308", "11222333000181", nota.serie_dps_nacional, nota.numero_dps_nacional);
        diz("dps", cliente.consultarNotaPorDps(id).chave_acesso);
        var nenhum = EmissorNfse.identificadorDaDps("3550308", "11222333000181", "9", "9");
        diz("existe", cliente.existeNotaDaDps(id), cliente.existeNotaDaDps(nenhum));
        diz("danfse", new String(cliente.baixarDanfse(deJson.chave_acesso), 0, 5, StandardCharsets.US_ASCII));
        Map<String, Object> pedido = new LinkedHashMap<>();
        pedido.put("tipo_evento", "cancelamento");
        pedido.put("codigo_motivo_cancelamento", "1");
        pedido.put("descricao_motivo_cancelamento", "Valor do serviço informado com erro");
        var evento = cliente.registrarEvento(deJson.chave_acesso, pedido, new EmissorNfse.Envio());
        diz("evento", evento.tipo_evento, evento.numero_sequencial, evento.repetida);
        diz("fim", cliente.acompanharEvento(deJson.chave_acesso, evento.tipo_evento, evento.numero_sequencial, prazo).status_evento);
        var eventos = cliente.listarEventos(deJson.chave_acesso);
        diz("eventos", eventos.total, eventos.eventos.get(0).tipo_evento);
        diz("situacao", cliente.consultarNota(deJson.chave_acesso).nota.status);
        var json = new String(bytes(a[6]), StandardCharsets.UTF_8).replace("\"numero_dps\": \"", "\"numero_dps\": \"9");
        var validada = cliente.validarDps(json.getBytes(StandardCharsets.UTF_8));
        diz("validada", validada.valores.valor_issqn, validada.calculo.get(0).campo);
    }

    private static void token(String[] a) throws Exception {
        String ca = Files.readString(Path.of(a[4]));
        var certificado = new EmissorNfse.Certificado(bytes(a[2]), a[3]);
        var cliente = new EmissorNfse(a[0], a[1], certificado, new EmissorNfse.Opcoes().autoridades(ca));
        var dado = cliente.pedirToken("11222333000181", List.of("consultar"), 7);
        var leitor = new EmissorNfse(a[0], a[1], null, new EmissorNfse.Opcoes().autoridades(ca).token(dado.token));
        int notas = leitor.listarNotas(Map.of("papel", "prestador", "limite", 1)).notas.size();
        diz("token", dado.documento, String.join(" ", dado.escopos), notas);
        diz("mudancas", Math.min(2, leitor.seguirMudancas(null, Duration.ZERO).mudancas.size()));
        try {
            new EmissorNfse(a[0], a[1], null, new EmissorNfse.Opcoes().autoridades(ca)).pedirToken("11222333000181");
        } catch (EmissorNfse.ErroDoEmissor erro) {
            diz(erro.getClass().getSimpleName(), erro.codigo_erro);
        }
    }

    private static void espera(String[] a) {
        var cliente = new EmissorNfse(a[0], a[1]);
        var chave = "1".repeat(50);
        for (Runnable fazer : List.<Runnable>of(() -> cliente.consultarNota(chave), () -> cliente.acompanharNota(chave, Duration.ofMinutes(50)))) {
            try {
                fazer.run();
            } catch (EmissorNfse.NaoEntregue erro) {
                diz("NaoEntregue", erro.tentativas, erro.espera.toSeconds());
            } catch (EmissorNfse.AindaEmAndamento erro) {
                diz("AindaEmAndamento");
            }
        }
    }

    private static void emitir(String[] a) throws Exception {
        var opcoes = new EmissorNfse.Opcoes().tentativas(3).esperas(Duration.ofMillis(10), Duration.ofMinutes(1));
        var cliente = new EmissorNfse(a[0], a[1], new EmissorNfse.Certificado(bytes(a[2]), a[3]), opcoes);
        try {
            var emitida = cliente.emitirNota(bytes(a[4]));
            diz("emitida", emitida.chave_acesso, emitida.repetida);
        } catch (EmissorNfse.ErroDoEmissor erro) {
            boolean emDuvida = erro instanceof EmissorNfse.Indeterminado;
            diz(erro.getClass().getSimpleName(), erro.tentativas, erro.status, emDuvida);
            if (!emDuvida || a.length < 6) return;
            var repeticao = ((EmissorNfse.Indeterminado) erro).repeticao;
            var envio = new EmissorNfse.Envio().chave(repeticao.chave).assinatura(repeticao.assinatura);
            var retomada = new EmissorNfse(a[5], a[1]).emitirNota(repeticao.corpo, envio);
            diz("retomada", retomada.chave_acesso, retomada.repetida);
        }
    }

    private static void assinar(String[] a) throws Exception {
        EmissorNfse.Certificado certificado;
        try {
            certificado = new EmissorNfse.Certificado(bytes(a[0]), a[1]);
        } catch (EmissorNfse.CertificadoRecusado erro) {
            diz("CertificadoRecusado");
            return;
        }
        for (int lugar = 2; lugar < a.length; lugar += 2) {
            try {
                Files.write(Path.of(a[lugar + 1]), EmissorNfse.assinarXml(bytes(a[lugar]), certificado));
                diz("assinada");
            } catch (EmissorNfse.XmlRecusado erro) {
                diz("XmlRecusado");
            }
        }
    }
}
